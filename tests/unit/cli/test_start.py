"""The command's first moments, before its modules are imported."""

import subprocess
import sys

# The moment at which the engine's own modules begin to be imported.
_TOLD_TO_STOP = """
import os, signal, sys

class TellsToStop:
    def find_spec(self, name, path=None, target=None):
        if name == "hudi_engine.cli":
            os.kill(os.getpid(), signal.SIGTERM)

sys.meta_path.insert(0, TellsToStop())
from hudi_engine.start import start
assert not any(name.startswith("hudi_engine.cli") for name in sys.modules)
start()
"""


def test_a_command_that_is_told_to_stop_while_its_modules_are_imported_ends_with_143() -> None:
    """A process without a handler would end by the signal; the first one of a container would not end at all."""
    ended = subprocess.run([sys.executable, "-c", _TOLD_TO_STOP], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (143, "", "")


def test_the_installed_command_runs() -> None:
    program = "import sys; sys.argv = ['hudi-engine', '--version']; from hudi_engine.start import start; start()"

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("hudi-engine")


_TOLD_TO_STOP_TOO_LATE = """
import os, signal
from hudi_engine import start
from hudi_engine.cli.stopping import stoppable

signal.signal(signal.SIGTERM, start._leave)
with stoppable():
    pass
os.kill(os.getpid(), signal.SIGTERM)
print("reported")
"""


def test_a_job_that_is_told_to_stop_after_its_end_still_reports() -> None:
    ended = subprocess.run([sys.executable, "-c", _TOLD_TO_STOP_TOO_LATE], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "reported\n", "")
