"""Stand-ins for `hudi-engine observe`: programs that answer as it does, or fail in the ways that it may."""

import sys

_HEAD = """
import json, os, sys, time
seen = dict(fingerprint="f1", observed_ms=1, name="orders", type="COPY_ON_WRITE", version=9, layout=2,
            record_key_fields=["id"], partition_fields=[], indexes=[],
            timeline=dict(latest_completed=None, latest_completed_ms=None, latest_by_action={}, active_instants=0,
                          counts={}))
def answer(question, **told):
    print(json.dumps(dict(version=1, id=question["id"], **told)), flush=True)
for line in sys.stdin:
    question = json.loads(line)
"""


def program(body: str) -> tuple[str, ...]:
    """The command of a process that does this with each `question`."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return (sys.executable, "-I", "-S", "-c", _HEAD + indented)


FAITHFUL = """
if question["known"] == seen["fingerprint"]:
    answer(question, unchanged=True)
else:
    answer(question, seen=dict(seen, name=str(os.getpid())))
"""
