"""The conducted live builds of the gate leave no release, no kind of index and no type of table out."""

from itertools import product

from tests.interop.live_cases import ALL_KINDS, CONDUCTED, COW, MOR, Case
from tools.parts import HUDI_VERSIONS


def test_each_release_is_a_writer_beside_a_conducted_build() -> None:
    assert sorted(case.release for case in CONDUCTED) == sorted(HUDI_VERSIONS)


def test_each_kind_of_index_is_built_beside_writers_of_both_types_of_tables() -> None:
    kinds = Case("", "", ALL_KINDS).indexes

    built = {(name, case.table_type) for case in CONDUCTED for name in case.indexes}

    assert built == set(product(kinds, (COW, MOR)))


def test_each_kind_of_index_is_built_beside_writers_of_two_releases() -> None:
    kinds = Case("", "", ALL_KINDS).indexes

    releases = {name: {case.release for case in CONDUCTED if name in case.indexes} for name in kinds}

    assert {name for name, found in releases.items() if len(found) > 1} == set(kinds)
