"""Manifests as users write them."""

from pathlib import Path

from hudi_operator.local.manifests import Found, Manifest, add_text
from hudi_operator.resources.model import Ref
from hudi_operator.words import Kind

TABLE_REF = Ref(Kind.TABLE, "default", "orders")
INDEX_REF = Ref(Kind.INDEX, "default", "orders-keys")
SOURCE = Path("/manifests/all.yaml")

TABLE = """
apiVersion: hudi-operator.dev/v1alpha1
kind: HudiTable
metadata: {name: orders}
spec:
  basePath: /tables/orders
  concurrency: {mode: SingleWriter}
"""
INDEX = """
apiVersion: hudi-operator.dev/v1alpha1
kind: MetadataIndex
metadata: {name: orders-keys}
spec:
  tableRef: {name: orders}
  indexType: RecordIndex
"""


def found_in(text: str) -> Found:
    found = Found()
    add_text(found, SOURCE, text)
    return found


def manifest(text: str) -> Manifest:
    (only,) = found_in(text).manifests.values()
    return only
