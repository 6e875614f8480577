"""A driver that is a pod of Kubernetes, as its environment says."""

from collections.abc import Mapping

POD_IP = "POD_IP"


def driver_address(environment: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings of the address of the driver; none outside a pod.

    Executors are given the address within a URL. Spark therefore takes an address of IPv6 in brackets only.
    """
    address = environment.get(POD_IP, "")
    host = f"[{address}]" if ":" in address else address
    return {"spark.driver.host": host, "spark.driver.bindAddress": host} if host else {}
