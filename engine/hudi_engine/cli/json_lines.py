"""Texts and claims of an Arrow table as JSON, a document a line, without a Python object for each."""

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.cli import screen

# What a JSON text must escape, and what a terminal must not see.
_SPECIAL = r'[\x00-\x1f\x7f-\x{9f}"\\]'
_TEXT = pa.large_string()


def json_lines(rows: pa.Table) -> str:
    """The rows as `screen.print_json` would write them. Columns are strings or booleans."""
    pieces = []
    for number, name in enumerate(rows.schema.names):
        pieces += [_text(f"{', ' if number else '{'}{screen.json_text(name)}: "), _json(rows[name].combine_chunks())]
    lines = pc.binary_join_element_wise(*pieces, _text("}\n"), _text(""))
    whole: str = pc.binary_join(pa.LargeListArray.from_arrays([0, len(lines)], lines), _text(""))[0].as_py()
    return whole


def _json(column: pa.Array) -> pa.Array:
    if pa.types.is_boolean(column.type):
        written = pc.if_else(column, _text("true"), _text("false"))
    else:
        column = pc.cast(column, _TEXT)
        is_special = pc.fill_null(pc.match_substring_regex(column, _SPECIAL), False)
        written = pc.binary_join_element_wise(_text('"'), column, _text('"'), _text(""))
        if pc.any(is_special).as_py():
            special = [screen.json_text(text) for text in column.filter(is_special).to_pylist()]
            written = pc.replace_with_mask(written, is_special, pa.array(special, _TEXT))
    return pc.fill_null(written, _text("null"))


def _text(text: str) -> pa.Scalar:
    return pa.scalar(text, _TEXT)
