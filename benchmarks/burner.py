"""Uses so much processor time a second and does nothing with it, for so many seconds; one JSON line.

python -m benchmarks.burner SHARE SECONDS      where SHARE is of one core
"""

import json
import sys
import time

_PAUSE_SECONDS = 0.005
_SUMMED = range(10_000)


def main(share: float, seconds: float) -> None:
    began, used = time.time(), time.process_time()
    while (elapsed := time.time() - began) < seconds:
        if time.process_time() - used < share * elapsed:
            sum(_SUMMED)
        else:
            time.sleep(_PAUSE_SECONDS)
    print(json.dumps({"began": began, "ended": time.time(), "cpu_seconds": time.process_time() - used}))


if __name__ == "__main__":
    main(float(sys.argv[1]), float(sys.argv[2]))
