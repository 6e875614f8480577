"""The real `hudi-operator`; the engines that it starts as processes pause where a test wants (`paused_engine`).

    python -m tests.kit.paused_operator FOLDER run --launcher process …
    python -m tests.kit.paused_operator FOLDER local …

Where FOLDER/long-lease is, its Lease outlasts whatever a test does to the API server.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Final

from hudi_operator.kube import operator
from hudi_operator.kube.lease import Lease, Terms
from hudi_operator.launch.process import ProcessLauncher
from hudi_operator.local import session
from hudi_operator.main import main

_LONG: Final = Terms(duration_seconds=900.0, deadline_seconds=600.0)

if __name__ == "__main__":
    folder = Path(sys.argv.pop(1))
    engine = (sys.executable, "-P", "-m", "tests.kit.paused_engine", str(folder), "run")
    for module in (operator, session):
        vars(module)["ProcessLauncher"] = partial(ProcessLauncher, command=engine)
    if (folder / "long-lease").exists():
        vars(operator)["Lease"] = partial(Lease, terms=_LONG)
    main()
