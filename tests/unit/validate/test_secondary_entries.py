import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.keys import secondary_keys, secondary_prefixes
from hudi_engine.index.secondary_values import Column
from hudi_engine.validate.fingerprints import fingerprints
from hudi_engine.validate.secondary_entries import Spelling
from hudi_engine.validate.secondary_values import prints

TEXTS = Column(("c",), pa.string(), IndexVersion.V2)
FRACTIONS = Column(("c",), pa.float64(), IndexVersion.V2)
PLAIN = st.text(st.characters(blacklist_characters="\\$\0", blacklist_categories=["Cs"]), max_size=12)
ANY = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12) | st.sampled_from(["\\", "$", "\0", "a$b\\"])
PAIRS = st.lists(st.tuples(st.none() | PLAIN, PLAIN), max_size=8) | st.lists(
    st.tuples(st.none() | ANY, ANY), max_size=8
)


@settings(deadline=None)
@given(PAIRS, st.integers(0, 8), st.booleans())
def test_keys_are_taken_apart_as_they_were_put_together(
    pairs: list[tuple[str | None, str]], start: int, is_spread_by_value: bool
) -> None:
    values = pa.array([value for value, _ in pairs], pa.large_string()).slice(start)
    keys = pa.array([key for _, key in pairs], pa.large_string()).slice(start)
    entries = secondary_keys(values, keys)

    parts = Spelling(TEXTS, is_spread_by_value, 5).parts(entries)

    assert parts.keys.tolist() == fingerprints(keys).tolist()
    assert parts.is_null.tolist() == values.is_null().to_pylist()
    there = ~parts.is_null
    assert parts.values[there].tolist() == fingerprints(values)[there].tolist()
    hashed = secondary_prefixes(values) if is_spread_by_value else entries
    assert parts.shards.tolist() == shard_numbers(hashed, 5).tolist()


@pytest.mark.parametrize("keys", [["1.5$a", "-0.0$b"], ["1.5$a", "NaN$b", "0x1$c", "\\$$d", "\0$e"]])
def test_fractions_have_the_fingerprints_of_their_rows(keys: list[str]) -> None:
    numbers = {"1.5$a": 1.5, "-0.0$b": -0.0, "NaN$b": float("nan")}

    parts = Spelling(FRACTIONS, True, 1).parts(pa.array(keys, pa.large_string()))

    for key, found in zip(keys, parts.values.tolist(), strict=True):
        if key in numbers:
            assert found == prints(FRACTIONS, pa.array([numbers[key]]))[0]
        elif key == "0x1$c":
            assert found == fingerprints(pa.array(["0x1"]))[0]


@pytest.mark.parametrize("keys", [["a"], ["a$b", "c"], ["a", "b$c"], ["a\\$b"], ["a$b", "", "c$d"]])
def test_a_key_without_a_dollar_is_damage(keys: list[str]) -> None:
    with pytest.raises(CorruptFile, match=r"without a \$"):
        Spelling(TEXTS, True, 4).parts(pa.array(keys, pa.large_string()))
