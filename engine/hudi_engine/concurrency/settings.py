"""What the configuration says, as values; a word that is none of them is refused with the property's name."""

from collections.abc import Mapping

from hudi_engine.errors import Contradiction


def whole_number(conf: Mapping[str, str], key: str, default: int, *, least: int = 0) -> int:
    """The number that `conf` gives for `key`, or the default where it gives none."""
    text = conf.get(key, str(default)).strip()
    if not (text.isascii() and text.isdecimal()) or int(text) < least:
        raise Contradiction(
            f"{key}={text!r}: expected a whole number of at least {least}; set it right or leave it out"
        )
    return int(text)


def is_set(conf: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """The truth that `conf` gives for `key`."""
    text = conf.get(key, str(default)).strip().lower()
    if text not in {"true", "false"}:
        raise Contradiction(f"{key}={conf[key]!r}: expected true or false; set it right or leave it out")
    return text == "true"
