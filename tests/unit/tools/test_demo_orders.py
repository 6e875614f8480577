"""What the demo calls lost."""

from tools.demo.orders import key_of, region_of, wrong_places


def test_a_key_that_is_not_found_and_one_that_is_elsewhere_are_wrong() -> None:
    found = [(key_of(0), region_of(0)), (key_of(1), "nowhere"), (key_of(3), region_of(3))]

    assert wrong_places(found, 4) == [key_of(1), key_of(2)]


def test_every_batch_is_of_one_region_and_the_next_of_another() -> None:
    assert {region_of(number) for number in range(100)} != {region_of(number) for number in range(100, 200)}
    assert len({region_of(number) for number in range(100)}) == 1
