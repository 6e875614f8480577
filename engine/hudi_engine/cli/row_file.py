"""Rows into a file that appears whole or not at all."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from hudi_engine.errors import AccessDenied, NoSpaceLeft, StorageUnavailable


def require_writable(out: Path, location: str, *, overwrite: bool) -> None:
    """Refuse what would surprise: an unknown kind of file, one that is there already, one inside of the table."""
    if out.suffix not in {".parquet", ".arrow"}:
        raise typer.BadParameter(f"{out}: expected a name that ends in .parquet or .arrow", param_hint="--out")
    if not out.parent.is_dir():
        raise typer.BadParameter(f"{out.parent}: no such folder", param_hint="--out")
    if out.exists() and not overwrite:
        raise typer.BadParameter(f"{out} is there already; give --overwrite to replace it", param_hint="--out")
    if "://" not in location and out.resolve().is_relative_to(Path(location).resolve()):
        raise typer.BadParameter(f"{out} is inside of the table", param_hint="--out")


def write_rows(out: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> int:
    """Write all rows; gives their number. A failure leaves what stood there before."""
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    rows = 0
    try:
        with _writer(unfinished, out.suffix, schema) as writer:
            for table in tables:
                writer.write_table(table)
                rows += table.num_rows
        os.replace(unfinished, out)
    except OSError as refused:
        raise _as_ours(refused, out) from refused
    finally:
        unfinished.unlink(missing_ok=True)
    return rows


def _writer(path: Path, kind: str, schema: pa.Schema) -> Any:
    if kind == ".parquet":
        return pq.ParquetWriter(path, schema, compression="zstd")
    return pa.ipc.new_file(str(path), schema)


def _as_ours(refused: OSError, out: Path) -> Exception:
    reason = os.strerror(refused.errno) if refused.errno else str(refused)
    match refused.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return NoSpaceLeft(f"{out}: {reason}; nothing was written. Free some space and run again.")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return AccessDenied(f"{out}: {reason}; nothing was written.")
        case _:
            return StorageUnavailable(f"{out}: {reason}; nothing was written.")
