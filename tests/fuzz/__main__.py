"""Damage every format and see what the engine makes of it: `python -m tests.fuzz --help`."""

import os
import sys

# NumPy and Arrow start threads when they are imported, and a fork of several threads may leave a lock held for ever.
_SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}

os.execve(
    sys.executable, [sys.executable, "-m", "tests.fuzz.command", *sys.argv[1:]], {**os.environ, **_SINGLE_THREADED}
)
