"""Every distribution that a module imports is declared in pyproject.toml, where that module may count on it."""

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

from tests.repository.declared import CORE, declared, plain

ROOT = Path(__file__).parents[2]
_OURS: Final = {"hudi_engine", "hudi_operator"}
# The extras that a folder or module may import from beside the core dependencies; the longest name holds.
_EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "hudi_engine": (),
    "hudi_engine.concurrency.zookeeper_session": ("sasl",),
    "hudi_engine.spark": ("spark",),
    "hudi_operator": ("operator",),
    "hudi_operator.plugin": (),
    "hudi_operator.start": (),
    "hudi_operator.version": (),
}
# A module of the standard library that finds its data in a distribution where the system has none.
_DATA: Final = {"zoneinfo": "tzdata"}
_BY_NAME: Final = {"find_spec", "import_module", "__import__"}


def test_every_module_imports_what_is_declared_where_the_module_may_count_on_it() -> None:
    by_extra = declared()

    undeclared = [
        f"{module}: {name}" for module, tree in _modules() for name in _distributions(tree) - _allowed(module, by_extra)
    ]

    assert undeclared == []


def test_every_declared_distribution_is_imported() -> None:
    imported = {name for _, tree in _modules() for name in _distributions(tree)}

    assert {name for names in declared().values() for name in names} - imported == set()


def test_an_import_within_a_function_a_checked_spec_and_a_zone_each_need_their_distribution() -> None:
    source = (
        "def read():\n    import yaml.loader\n    find_spec('puresasl')\nfrom zoneinfo import ZoneInfo\nimport os\n"
    )

    assert _distributions(ast.parse(source)) == {"pyyaml", "pure-sasl", "tzdata"}


def test_the_engine_may_not_count_on_an_extra() -> None:
    by_extra = {CORE: {"numpy"}, "spark": {"pyspark"}, "operator": {"kopf"}}

    assert _allowed("hudi_engine.cli.main", by_extra) == {"numpy"}
    assert _allowed("hudi_engine.spark.tag", by_extra) == {"numpy", "pyspark"}
    assert _allowed("hudi_operator.kube.handlers", by_extra) == {"numpy", "kopf"}
    assert _allowed("hudi_operator.plugin.main", by_extra) == {"numpy"}


def _allowed(module: str, by_extra: dict[str, set[str]]) -> set[str]:
    room = max((name for name in _EXTRAS if f"{module}.".startswith(f"{name}.")), key=len)
    return by_extra[CORE].union(*(by_extra[extra] for extra in _EXTRAS[room]))


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("engine", "operator"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT / folder).with_suffix("").parts)
            yield name, ast.parse(path.read_text())


def _distributions(tree: ast.Module) -> set[str]:
    """What has to be installed for the imports of a module, wherever they stand in the module."""
    found = set()
    for name in {imported.partition(".")[0] for imported in _imported(tree)} - _OURS:
        if name in _DATA:
            found.add(_DATA[name])
        elif name not in sys.stdlib_module_names:
            found.add(plain(_installed().get(name, [name])[0]))
    return found


@cache
def _installed() -> Mapping[str, list[str]]:
    return packages_distributions()  # reads the metadata of all that is installed


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(module)), *_]
            ) if called in _BY_NAME:
                yield module
