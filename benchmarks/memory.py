"""How much memory a process took at its height."""

from pathlib import Path


def peak_bytes_of(pid: int | str = "self") -> int:
    """The high-water mark of resident memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/{pid}/status has no VmHWM")
