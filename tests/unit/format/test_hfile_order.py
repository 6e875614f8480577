"""The order of Java's strings, as bytes compare."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.order import Order, orders_of

TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("a\ud7ff\ue000\uffff\U00010000\U0010ffff"))
)


@given(st.lists(TEXTS, max_size=8))
def test_keys_in_javas_order_compare_as_utf_16_does(texts: list[str]) -> None:
    keys = pa.array([text.encode() for text in texts], pa.large_binary())

    moved = Order.JAVA.of(keys[1:]).to_pylist()

    by_bytes = sorted(range(len(moved)), key=lambda at: moved[at])
    assert by_bytes == sorted(range(len(moved)), key=lambda at: texts[at + 1].encode("utf-16-be"))


@pytest.mark.parametrize(
    ("texts", "orders"),
    [
        ([], (Order.BYTES,)),
        (["a", "b", "\ud7ff"], (Order.BYTES,)),
        (["a", "\ue000", "\U0001f600"], (Order.BYTES,)),
        (["a", "\U0001f600", "\ue000"], (Order.JAVA,)),
        (["a", "\ue000", "\ue001"], (Order.BYTES, Order.JAVA)),
    ],
)
def test_the_orders_of_keys_are_all_that_they_ascend_in(texts: list[str], orders: tuple[Order, ...]) -> None:
    assert orders_of(pa.array([text.encode() for text in texts], pa.large_binary()), 0) == orders


def test_keys_in_no_order_are_corrupt() -> None:
    with pytest.raises(CorruptFile, match="neither ascend in bytes nor as Java's strings"):
        orders_of(pa.array([b"b", b"a"], pa.large_binary()), 0)
