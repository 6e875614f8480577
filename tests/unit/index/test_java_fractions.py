"""Floating-point numbers are spelled as OpenJDK 17 spelled them; `java_fractions.txt` has its answers."""

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.index.java_fractions import fraction_texts

ANSWERS = [line.split() for line in Path(__file__).with_name("java_fractions.txt").read_text().splitlines()]
doubles = st.lists(st.floats() | st.floats(-1e7, 1e7) | st.integers(-(2**63), 2**63).map(float), max_size=20)


@pytest.mark.parametrize(("kind", "bits", "numbers"), [("D", np.uint64, np.float64), ("F", np.uint32, np.float32)])
def test_numbers_are_spelled_as_java_did(kind: str, bits: type, numbers: type) -> None:
    asked = [(int(stored, 16), text) for tag, stored, text in ANSWERS if tag == kind]
    assert len(asked) > 200

    found = fraction_texts(pa.array(np.array([stored for stored, _ in asked], bits).view(numbers)))

    assert found.to_pylist() == [text for _, text in asked]


def test_java_has_digits_that_are_not_the_shortest() -> None:
    odd = [text for tag, stored, text in ANSWERS if tag == "D" and len(repr(as_double(stored))) < len(text) - 2]

    assert odd


def as_double(stored: str) -> float:
    (found,) = struct.unpack(">d", int(stored, 16).to_bytes(8, "big"))
    return float(found)


KNOWN = {
    0.0: "0.0",
    1.0: "1.0",
    1e-3: "0.001",
    9.99e-4: "9.99E-4",
    1e-5: "1.0E-5",
    9_999_999.0: "9999999.0",
    1e7: "1.0E7",
    1e10: "1.0E10",
    2e23: "1.9999999999999998E23",
    0.1 + 0.2: "0.30000000000000004",
    123456.789: "123456.789",
    5e-324: "4.9E-324",
    1.7976931348623157e308: "1.7976931348623157E308",
    float("inf"): "Infinity",
}


@pytest.mark.parametrize("number", KNOWN)
def test_a_sign_is_before_the_same_digits(number: float) -> None:
    assert fraction_texts(pa.array([number, -number])).to_pylist() == [KNOWN[number], "-" + KNOWN[number]]


def test_nan_has_no_sign_and_null_no_text() -> None:
    numbers = pa.array([None, float("nan"), -float("nan"), 1.5], from_pandas=False)

    assert fraction_texts(numbers).to_pylist() == [None, "NaN", "NaN", "1.5"]
    assert fraction_texts(numbers.slice(3)).to_pylist() == ["1.5"]
    assert fraction_texts(pa.array([], pa.float32())).to_pylist() == []


@given(doubles)
def test_every_text_is_of_its_number_and_no_other(numbers: list[float]) -> None:
    array = np.array(numbers, np.float64)

    texts = fraction_texts(pa.array(array, from_pandas=False)).to_pylist()

    assert np.array_equal(np.array([float(text) for text in texts]), array, equal_nan=True)
    assert [text.startswith("-") for text in texts] == [bool(n < 0 or str(n) == "-0.0") for n in numbers]


@given(st.lists(st.floats(width=32), max_size=20))
def test_every_text_of_a_smaller_number_is_of_it_too(numbers: list[float]) -> None:
    array = np.array(numbers, np.float32)

    texts = fraction_texts(pa.array(array, from_pandas=False)).to_pylist()

    assert np.array_equal(np.array([float(text) for text in texts], np.float32), array, equal_nan=True)
