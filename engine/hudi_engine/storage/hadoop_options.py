"""Hadoop's names for how to reach S3, as the settings that obstore and hudi-rs share."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from hudi_engine.errors import Contradiction

_SAME_MEANING = {
    "fs.s3a.access.key": "access_key_id",
    "fs.s3a.secret.key": "secret_access_key",
    "fs.s3a.session.token": "session_token",
    "fs.s3a.endpoint.region": "region",
}


def s3_settings(bucket: str, options: Mapping[str, str]) -> dict[str, str]:
    """The settings for `bucket`; what `options` do not name is left to the environment.

    Understood are `fs.s3a.endpoint`, `.endpoint.region`, `.access.key`, `.secret.key`, `.session.token`,
    `.path.style.access` and `.connection.ssl.enabled`; all others are left alone. Without `.path.style.access` the
    bucket goes into the path, which every store understands; Hadoop would put it into the host's name.
    """
    settings = {ours: options[hadoop] for hadoop, ours in _SAME_MEANING.items() if options.get(hadoop)}
    endpoint = options.get("fs.s3a.endpoint", "")
    if not endpoint:
        return settings
    if "://" not in endpoint:
        is_plain = _is_off(options, "fs.s3a.connection.ssl.enabled")
        endpoint = f"{'http' if is_plain else 'https'}://{endpoint}"
    settings["endpoint"] = _require_address(endpoint)
    if _is_off(options, "fs.s3a.path.style.access"):
        scheme, _, host = settings["endpoint"].partition("://")
        settings |= {"endpoint": f"{scheme}://{bucket}.{host}", "virtual_hosted_style_request": "true"}
    return settings


def _is_off(options: Mapping[str, str], name: str) -> bool:
    match options.get(name, "").strip().lower():
        case "false":
            return True
        case "true" | "":
            return False
        case other:
            raise Contradiction(f"{name} is {other!r}; expected true or false")


def _require_address(endpoint: str) -> str:
    """Refused here, since the client library does not survive an address that is none."""
    try:
        parts = urlsplit(endpoint)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or any(char.isspace() or not char.isprintable() for char in endpoint):
        raise Contradiction(
            f"fs.s3a.endpoint is {endpoint!r}; expected host, host:port, or either with http:// or https://"
        )
    return endpoint.rstrip("/")
