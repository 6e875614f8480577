"""The HTTP proxy between us and the API server, by the environment's variables as Go programs read them."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit


def proxy_of(server: str, environment: Mapping[str, str]) -> str | None:
    """None if NO_PROXY excepts the server, by name, suffix or network, or if the server is this machine."""
    url = urlsplit(server)
    host = url.hostname or ""
    name = f"{url.scheme}_proxy"
    proxy = environment.get(name.upper()) or environment.get(name)
    if not proxy or host == "localhost" or _is_loopback(host):
        return None
    excepted = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    if any(_is_excepted(host, url.port, each.strip()) for each in excepted.split(",") if each.strip()):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_excepted(host: str, port: int | None, rule: str) -> bool:
    if rule == "*":
        return True
    network = _network(rule)
    if network is not None:
        address = _address(host)
        return address is not None and address in network
    name, _, only_port = rule.lower().partition(":")
    if only_port and only_port != str(port):
        return False
    suffix = name.removeprefix("*").removeprefix(".")
    return host.endswith(f".{suffix}") or (host == suffix and not name.startswith((".", "*.")))


def _network(rule: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(rule, strict=False)
    except ValueError:
        return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return address is not None and address.is_loopback
