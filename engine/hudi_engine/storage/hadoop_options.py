"""Hadoop's names for how to reach S3, as the settings that obstore and hudi-rs share."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from hudi_engine.errors import Contradiction

ENDPOINT, ACCESS_KEY, SECRET_KEY = "fs.s3a.endpoint", "fs.s3a.access.key", "fs.s3a.secret.key"
UNSIGNED = "hudi.engine.storage.unsigned"
"""Ours: `true` leaves requests unsigned where no keys are given. The environment's identity is never used then."""
_REGION = "fs.s3a.endpoint.region"
_SAME_MEANING = {
    ACCESS_KEY: "access_key_id",
    SECRET_KEY: "secret_access_key",
    "fs.s3a.session.token": "session_token",
    _REGION: "region",
}
# These become parts of an address: other characters would lead it elsewhere.
_PART_OF_HOST = re.compile(r"[a-z0-9-]+")


def s3_settings(bucket: str, options: Mapping[str, str]) -> dict[str, str]:
    """The settings for `bucket`; what `options` do not name is left to the environment.

    Understood are `fs.s3a.endpoint`, `.endpoint.region`, `.access.key`, `.secret.key`, `.session.token`,
    `.path.style.access` and `.connection.ssl.enabled`; all others are left alone. Without `.path.style.access` the
    bucket goes into the path, which every store understands; Hadoop would put it into the host's name.
    """
    settings = {ours: options[hadoop] for hadoop, ours in _SAME_MEANING.items() if options.get(hadoop)}
    if "region" in settings:
        require_part_of_host(_REGION, settings["region"])
    if is_unsigned(options):
        settings = _without_environment(settings)
    endpoint = endpoint_of(options)
    if not endpoint:
        return settings
    settings["endpoint"] = endpoint
    if _is_off(options, "fs.s3a.path.style.access"):
        scheme, _, host = settings["endpoint"].partition("://")
        settings |= {"endpoint": f"{scheme}://{bucket}.{host}", "virtual_hosted_style_request": "true"}
    return settings


def endpoint_of(options: Mapping[str, str]) -> str:
    """The address that requests go to, with its scheme; empty if the options leave it to the store."""
    endpoint = options.get(ENDPOINT, "")
    is_plain = _is_off(options, "fs.s3a.connection.ssl.enabled")
    return _require_address(with_scheme(endpoint, "http" if is_plain else "https")) if endpoint else ""


def with_scheme(endpoint: str, scheme: str = "https") -> str:
    """The endpoint as it is compared with others."""
    return (endpoint if "://" in endpoint else f"{scheme}://{endpoint}").rstrip("/")


def is_unsigned(options: Mapping[str, str]) -> bool:
    return options.get(UNSIGNED) == "true"


def require_part_of_host(what: str, text: str) -> None:
    """Refused here: the client library builds an address of it as it is."""
    if not _PART_OF_HOST.fullmatch(text):
        raise Contradiction(f"{what} is {text!r}; expected letters a-z, digits and '-'")


def _without_environment(settings: dict[str, str]) -> dict[str, str]:
    """Signed with both keys, or not at all: the library would take what is lacking from the environment."""
    given = {"access_key_id", "secret_access_key"} & settings.keys()
    if len(given) == 1:
        raise Contradiction(f"only one of {ACCESS_KEY} and {SECRET_KEY} is set; expected both or neither")
    if given:
        return settings
    return {**{name: value for name, value in settings.items() if name == "region"}, "skip_signature": "true"}


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
