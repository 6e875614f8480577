"""The paused engine where all clocks agree: a commit that begins after the flag of an index counts as aware of it.

Elsewhere a commit of the next five seconds may be of a writer whose clock is ahead, and is waited for.
"""

import runpy
from typing import Final

from hudi_engine.action import catch_up

ONE_CLOCK: Final = "tests.interop.engine_of_one_clock"

if __name__ == "__main__":
    assert vars(catch_up)["_CLOCKS_APART_MS"], "the engine has another name for the time by which clocks may be apart"
    vars(catch_up)["_CLOCKS_APART_MS"] = 0
    runpy.run_module("tests.kit.paused_engine", run_name="__main__", alter_sys=True)
