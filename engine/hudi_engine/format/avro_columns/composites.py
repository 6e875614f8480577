"""Columns of unions and records."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hudi_engine.format.avro_columns.blanks import nulls, spread
from hudi_engine.format.avro_columns.cursor import Cursor
from hudi_engine.format.avro_columns.scalars import Column


@dataclass(frozen=True, slots=True)
class Only:
    """A union of one branch."""

    inner: Column

    @property
    def type(self) -> pa.DataType:
        return self.inner.type

    def decode(self, cursor: Cursor) -> pa.Array:
        cursor.branches(1)
        return self.inner.decode(cursor)

    def skip(self, cursor: Cursor) -> None:
        cursor.branches(1)
        self.inner.skip(cursor)


@dataclass(frozen=True, slots=True)
class Nullable:
    """A union of null and `inner`, which is branch number `other`."""

    inner: Column
    other: int

    @property
    def type(self) -> pa.DataType:
        return self.inner.type

    def decode(self, cursor: Cursor) -> pa.Array:
        return decode_branch(self.inner, cursor, cursor.branches(2) == self.other)

    def skip(self, cursor: Cursor) -> None:
        skip_branch(self.inner, cursor, cursor.branches(2) == self.other)


@dataclass(frozen=True, slots=True)
class Choice:
    """A wider union: a struct with a field for each branch but null, of which at most one is set."""

    type: pa.DataType
    branches: tuple[Column | None, ...]

    def decode(self, cursor: Cursor) -> pa.Array:
        found = cursor.branches(len(self.branches))
        children = [
            decode_branch(branch, cursor, found == number)
            for number, branch in enumerate(self.branches)
            if branch is not None
        ]
        is_null = np.isin(found, [number for number, branch in enumerate(self.branches) if branch is None])
        return pa.StructArray.from_arrays(children, fields=list(self.type), mask=pa.array(is_null))

    def skip(self, cursor: Cursor) -> None:
        found = cursor.branches(len(self.branches))
        for number, branch in enumerate(self.branches):
            if branch is not None:
                skip_branch(branch, cursor, found == number)


@dataclass(frozen=True, slots=True)
class Structs:
    type: pa.DataType
    fields: tuple[Column, ...]

    def decode(self, cursor: Cursor) -> pa.Array:
        children = [field.decode(cursor) for field in self.fields]
        return pa.StructArray.from_arrays(children, fields=list(self.type))

    def skip(self, cursor: Cursor) -> None:
        for field in self.fields:
            field.skip(cursor)


def decode_branch(column: Column, cursor: Cursor, is_taken: npt.NDArray[np.bool_]) -> pa.Array:
    """The values of the records that take this branch, and null for all others."""
    rows = np.flatnonzero(is_taken)
    if rows.size == 0:
        return nulls(column.type, cursor.size)
    if rows.size == cursor.size:
        return column.decode(cursor)
    part = cursor.at(rows)
    dense = column.decode(part)
    cursor.put_back(rows, part)
    return spread(dense, is_taken)


def skip_branch(column: Column, cursor: Cursor, is_taken: npt.NDArray[np.bool_]) -> None:
    rows = np.flatnonzero(is_taken)
    if rows.size == cursor.size:
        column.skip(cursor)
    elif rows.size:
        part = cursor.at(rows)
        column.skip(part)
        cursor.put_back(rows, part)
