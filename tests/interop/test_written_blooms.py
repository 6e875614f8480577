"""Bloom filters: ours by Java, and Java's by us."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.format.bloom import DYNAMIC, SIMPLE, BloomFilter, Sizing, build_bloom_filter, parse_bloom_filter
from tests.java.jvm import Jvm

# 2,500 keys in rows of 1,000, three rows at most: a dynamic filter grows twice, and a simple one is overfull.
KEYS = [f"order_id:order {number},line:{number % 7}é"[: 12 + number % 24] + f"/{number}" for number in range(2_500)]
ABSENT = [f"absent {number}" for number in range(10_000)]
SIZINGS = {SIMPLE: Sizing(3_000, 1e-3, None), DYNAMIC: Sizing(1_000, 1e-3, 3_000)}
FULL_TURN = {SIMPLE: Sizing(700, 1e-2, None), DYNAMIC: Sizing(700, 1e-2, 1_500)}


def made_by_us(sizing: Sizing) -> BloomFilter:
    return build_bloom_filter(pa.array(KEYS), sizing)


def made_by_java(real_hudi: Jvm, kind: str, sizing: Sizing) -> dict[str, str]:
    sizes = [sizing.keys, sizing.false_positives, sizing.most_keys or -1]
    made: dict[str, str] = real_hudi.make_bloom(kind=kind, sizes=sizes, keys=KEYS)
    return made


def answers(bloom: BloomFilter, keys: list[str]) -> str:
    return "".join("1" if found else "0" for found in bloom.might_contain(pa.array(keys)))


@pytest.mark.parametrize("kind", [SIMPLE, DYNAMIC])
def test_java_finds_every_key_in_our_filter_and_few_others(kind: str, real_hudi: Jvm) -> None:
    ours = made_by_us(SIZINGS[kind])

    by_java = real_hudi.might_contain(text=ours.to_text(), kind=ours.type_code, keys=[*KEYS, *ABSENT])

    assert ours.type_code == kind
    assert by_java[: len(KEYS)] == "1" * len(KEYS)
    # Made for one in a thousand, and for a dynamic filter in each of its three rows.
    assert 0 < by_java[len(KEYS) :].count("1") < 60
    assert by_java == answers(ours, [*KEYS, *ABSENT])


@pytest.mark.parametrize("sizing", [*SIZINGS.items(), *FULL_TURN.items()], ids=str)
def test_java_makes_the_same_filter_bit_by_bit(sizing: tuple[str, Sizing], real_hudi: Jvm) -> None:
    kind, sizes = sizing

    assert made_by_java(real_hudi, kind, sizes) == {"kind": kind, "text": made_by_us(sizes).to_text()}


@pytest.mark.parametrize("kind", [SIMPLE, DYNAMIC])
def test_we_answer_as_java_does_from_a_filter_of_its_own(kind: str, real_hudi: Jvm) -> None:
    made = made_by_java(real_hudi, kind, FULL_TURN[kind])

    by_us = answers(parse_bloom_filter(made["text"], made["kind"]), [*KEYS, *ABSENT])

    assert by_us == real_hudi.might_contain(**made, keys=[*KEYS, *ABSENT])
    assert "1" in by_us[len(KEYS) :]


@pytest.mark.parametrize("kind", [SIMPLE, DYNAMIC])
def test_java_finds_our_filter_in_a_parquet_footer(kind: str, real_hudi: Jvm, tmp_path: Path) -> None:
    ours = made_by_us(SIZINGS[kind])
    rows = pa.table({"_hoodie_record_key": sorted(KEYS)})
    footer = {
        "org.apache.hudi.bloomfilter": ours.to_text(),
        "hoodie_bloom_filter_type_code": ours.type_code,
        "hoodie_min_record_key": min(KEYS),
        "hoodie_max_record_key": max(KEYS),
    }
    pq.write_table(rows.replace_schema_metadata(footer), tmp_path / "base.parquet")

    read = real_hudi.parquet_footer(path=str(tmp_path / "base.parquet"))

    assert read == {
        "least_and_greatest": [min(KEYS), max(KEYS)],
        "bloom": {"kind": kind, "text": ours.to_text()},
    }
