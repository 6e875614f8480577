"""What the demo applies, as a user would write it."""

from pathlib import Path

_TABLE = """\
apiVersion: hudi-operator.dev/v1alpha1
kind: HudiTable
metadata:
  name: orders
spec:
  basePath: {table}
  tableName: orders
  concurrency:
    mode: Optimistic
    lock:
      fileSystem: {{}}
  observe:
    intervalSeconds: 5
  metadataGuard: Rebuild
"""
_INDEX = """\
apiVersion: hudi-operator.dev/v1alpha1
kind: MetadataIndex
metadata:
  name: orders-by-key
spec:
  tableRef:
    name: orders
  indexType: RecordIndex
"""
_VALIDATE = """\
apiVersion: hudi-operator.dev/v1alpha1
kind: TableService
metadata:
  name: orders-validate
spec:
  tableRef:
    name: orders
  type: Validate
  validate:
    indexes: [RecordIndex]
  runToken: {token}
"""


def apply_table(folder: Path, table: Path) -> str:
    return _apply(folder / "table.yaml", _TABLE.format(table=table))


def apply_index(folder: Path) -> str:
    return _apply(folder / "index.yaml", _INDEX)


def apply_validate(folder: Path, token: str) -> str:
    """Another token is another run."""
    return _apply(folder / "validate.yaml", _VALIDATE.format(token=token))


def _apply(file: Path, text: str) -> str:
    """The file appears whole: the operator may look at any moment."""
    aside = file.with_suffix(".draft")
    aside.write_text(text)
    aside.replace(file)
    return text
