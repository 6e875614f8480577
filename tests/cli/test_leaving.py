"""How the process of a command ends, whatever its libraries' threads are about to do."""

import subprocess
import sys

# Arrow reads ahead by threads of its own, here from a file that is slow to answer one of them.
_READS_AHEAD = """
import io, sys, threading, time
import pyarrow as pa, pyarrow.parquet as pq
from hudi_engine.cli import main as cli

began = threading.Event()

class Slow(io.BytesIO):
    def read(self, *size):
        if is_slow:
            began.set()
            time.sleep(1)
        return super().read(*size)

def app(standalone_mode):
    global is_slow
    file = pq.ParquetFile(Slow(made.getvalue()), pre_buffer=True)
    is_slow = True
    threading.Thread(target=lambda: next(file.iter_batches(use_threads=False)), daemon=True).start()
    began.wait()
    print("ready")
    sys.exit(3)

made, is_slow = io.BytesIO(), False
pq.write_table(pa.table({"a": list(range(1000))}), made)
cli.app = app
cli.entry()
"""


def test_a_thread_that_reads_ahead_does_not_abort_a_command_that_is_done() -> None:
    ended = subprocess.run([sys.executable, "-c", _READS_AHEAD], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "ready\n", "")
