"""What users write of an index."""

from collections.abc import Mapping
from typing import Final

from hudi_engine.contract import MAX_COLUMNS
from hudi_operator.resources.model import Approval, DeletionPolicy, Duplicates, IndexType
from hudi_operator.resources.schema.execution import execution
from hudi_operator.resources.schema.nodes import (
    ChangeRule,
    Rule,
    Schema,
    Type,
    choice,
    claim,
    group,
    matching,
    text,
    unchanged,
    whole,
)
from hudi_operator.resources.schema.values import table_ref, token

_FIELD: Final = "[A-Za-z_][A-Za-z0-9_]*"
_OF_COLUMNS: Final = (IndexType.COLUMN_STATS, IndexType.SECONDARY_INDEX)
_OF_KEYS: Final = (IndexType.RECORD_INDEX, IndexType.SECONDARY_INDEX)

_Spec = Mapping[str, object]


def _same(field: str) -> str:
    """That a field which may be left out is as it was, in CEL."""
    now, before = f"self.{field}", f"oldSelf.{field}"
    return f"has({now}) == has({before}) && (!has({now}) || {now} == {before})"


def _is_secondary(spec: _Spec) -> bool:
    return spec.get("indexType") == IndexType.SECONDARY_INDEX


def _columns_of(spec: _Spec) -> frozenset[object] | None:
    """As the API compares them, which takes them for a set."""
    columns = spec.get("columns")
    return frozenset(columns) if isinstance(columns, list | tuple) else None


def _has_more_columns(new: _Spec, old: _Spec) -> bool:
    before, now = _columns_of(old), _columns_of(new)
    return before is not None and now is not None and before <= now


def _is_rebuilt(new: _Spec, old: _Spec) -> bool:
    return new.get("rebuildToken") is not None and new.get("rebuildToken") != old.get("rebuildToken")


_RULES: Final = (
    Rule(
        "!has(self.partitioned) || !self.partitioned || self.indexType == 'RecordIndex'",
        "only a RecordIndex can be partitioned",
        lambda spec: not spec.get("partitioned") or spec.get("indexType") == IndexType.RECORD_INDEX,
    ),
    Rule(
        "!has(self.duplicates) || self.duplicates == 'Refuse' || self.indexType in ['RecordIndex', 'SecondaryIndex']",
        "duplicates belongs to RecordIndex and SecondaryIndex: leave it out",
        lambda spec: spec.get("duplicates") != Duplicates.NEWEST or spec.get("indexType") in _OF_KEYS,
    ),
    Rule(
        "!has(self.deletionPolicy) || self.deletionPolicy != 'Drop' || self.indexType != 'Files'",
        "the index Files cannot be dropped, for all others need it: use deletionPolicy Retain",
        lambda spec: spec.get("deletionPolicy") != DeletionPolicy.DROP or spec.get("indexType") != IndexType.FILES,
    ),
    Rule(
        "!has(self.columns) || self.indexType in ['ColumnStats', 'SecondaryIndex']",
        "columns belong to ColumnStats and SecondaryIndex: leave them out",
        lambda spec: spec.get("columns") is None or spec.get("indexType") in _OF_COLUMNS,
    ),
    Rule(
        "self.indexType != 'SecondaryIndex' || (has(self.columns) && size(self.columns) == 1)",
        "a SecondaryIndex needs columns with exactly one column: make a resource for each",
        lambda spec: not _is_secondary(spec) or len(_columns_of(spec) or ()) == 1,
    ),
    Rule(
        "!has(self.indexName) || self.indexType == 'SecondaryIndex'",
        "only a SecondaryIndex has a name of its own: leave indexName out",
        lambda spec: spec.get("indexName") is None or _is_secondary(spec),
    ),
)
_CHANGES: Final = (
    ChangeRule(
        f"self.indexType != 'SecondaryIndex' || ({_same('columns')})",
        "columns of a SecondaryIndex cannot be changed: delete the resource and make another",
        lambda new, old: not _is_secondary(new) or _columns_of(new) == _columns_of(old),
    ),
    ChangeRule(
        _same("indexName"),
        "indexName cannot be changed, given or taken away: delete the resource and make another",
        lambda new, old: bool(new.get("indexName") == old.get("indexName")),
    ),
    ChangeRule(
        f"self.indexType != 'ColumnStats' || ({_same('columns')}) || (has(self.rebuildToken) && "
        "(!has(oldSelf.rebuildToken) || self.rebuildToken != oldSelf.rebuildToken)) || "
        "(has(self.columns) && has(oldSelf.columns) && oldSelf.columns.all(column, column in self.columns))",
        "columns of ColumnStats can be added only: set another rebuildToken with others, and the index is built anew",
        lambda new, old: (
            new.get("indexType") != IndexType.COLUMN_STATS
            or _columns_of(new) == _columns_of(old)
            or _is_rebuilt(new, old)
            or _has_more_columns(new, old)
        ),
    ),
)


def index() -> Schema:
    return group(
        "What is wanted: that the index exists and keeps up.",
        {
            "tableRef": table_ref(),
            "indexType": choice("Which index. Cannot be changed.", list(IndexType), changes=(unchanged(),)),
            "columns": _columns(),
            "indexName": text(
                "Of a SecondaryIndex, what follows secondary_index_ in its name on the table; the resource's own name, "
                "with '_' for what is no letter or digit, unless given. Cannot be changed.",
                64,
                matching("^[A-Za-z0-9_]+$", "must be letters, digits and '_'"),
            ),
            "partitioned": claim(
                "A record index for each partition of the table. Cannot be changed.",
                default=False,
                changes=(unchanged(),),
            ),
            "duplicates": choice(
                "What a build does with record keys that several rows have. Refuse: it fails and names some. Newest: "
                "it indexes the row of each that was written last.",
                list(Duplicates),
                default=Duplicates.REFUSE.value,
            ),
            "catchUp": group(
                "The last stage of a build, beside the writers.",
                {"timeoutSeconds": whole("How long to wait for pending commits and to fall behind.", 1, 86_400)},
            ),
            "approval": choice(
                "Manual: a build waits for the annotation hudi-operator.dev/approve with the hash of its plan.",
                list(Approval),
                default=Approval.AUTOMATIC.value,
            ),
            "suspend": claim("No new runs.", default=False),
            "rebuildToken": token("Another token builds the index anew."),
            "deletionPolicy": choice(
                "What becomes of the index when this resource is deleted.",
                list(DeletionPolicy),
                default=DeletionPolicy.RETAIN.value,
            ),
            "execution": execution("How runs are carried out; of each field this one beats the table's."),
        },
        *_RULES,
        required=("tableRef", "indexType"),
        changes=_CHANGES,
    )


def _columns() -> Schema:
    name = text(
        "",
        255,
        matching(
            rf"^{_FIELD}(\.{_FIELD})*$",
            "must be the name of a column: letters, digits and '_', no digit first, a dot before each nested field",
        ),
    )
    return Schema(
        Type.LIST,
        "Which columns, a dot before each nested field. Of a SecondaryIndex exactly one, which cannot be changed; of "
        "ColumnStats those that the writers choose unless given; more can be added, others are given together with "
        "another rebuildToken.",
        entry=name,
        is_set=True,
        most=MAX_COLUMNS,
    )
