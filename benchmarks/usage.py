"""What one process has taken, without those that it started."""

import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory import peak_bytes_of


@dataclass(frozen=True, slots=True)
class Usage:
    cpu_seconds: float
    resident_bytes: int
    peak_bytes: int


def usage_of(pid: int) -> Usage:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), resident, peak_bytes_of(pid))


def difference(before: Usage, after: Usage) -> Usage:
    """Processor seconds in between; memory as it is afterwards."""
    return Usage(after.cpu_seconds - before.cpu_seconds, after.resident_bytes, after.peak_bytes)
