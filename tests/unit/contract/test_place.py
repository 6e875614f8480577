import pytest

from hudi_engine.contract import place_of

PLACES = {
    "/lake/orders": (
        "/lake/orders/",
        "//lake//orders",
        "file:/lake/orders",
        "file:///lake/orders/",
        "file:///lake//orders",
    ),
    "s3://lake/o": ("s3a://lake/o", "s3n://lake/o/", "s3://lake//o"),
    "abfs://c@account/o": ("abfss://c@account/o",),
    "gs://lake/o": ("gs://lake/o//",),
}


@pytest.mark.parametrize("place", PLACES)
def test_all_spellings_of_a_place_are_one(place: str) -> None:
    assert {place_of(spelling) for spelling in PLACES[place]} == {place_of(place)} == {place}


def test_no_two_places_are_one() -> None:
    others = ["/lake/orders-2", "/lake", "s3://lake/orders", "s3://lake", "gs://lake/orders", "/o:/lake/orders"]

    assert len({place_of(path) for path in (*PLACES, *others)}) == len(PLACES) + len(others)
