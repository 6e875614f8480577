"""A driver in a pod."""

from hudi_engine.spark.pod import driver_address


def test_a_pod_with_an_address_of_ipv6_names_itself_in_brackets() -> None:
    settings = driver_address({"POD_IP": "fd00:10:244::7"})

    assert settings == {"spark.driver.host": "[fd00:10:244::7]", "spark.driver.bindAddress": "[fd00:10:244::7]"}


def test_a_pod_with_an_address_of_ipv4_names_itself_plainly() -> None:
    assert set(driver_address({"POD_IP": "10.244.0.7"}).values()) == {"10.244.0.7"}


def test_a_process_in_no_pod_leaves_the_address_to_spark() -> None:
    assert driver_address({}) == {}
