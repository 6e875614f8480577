"""Values that nobody may read: taken out of every text before it leaves the process."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

_SECRET_KEY = re.compile(r"secret|passw|token|credential|auth|key|jaas|sas", re.IGNORECASE)
# Shorter ones, as `true` and `9000`, are words of any sentence: they are hidden only if their key says so.
_TELLING = 8
_MASK = "***"


@dataclass(frozen=True, slots=True)
class Veil:
    """`hidden` are texts, the longest first, so that none of them stays in part."""

    hidden: tuple[str, ...] = ()

    def over(self, text: str) -> str:
        """The text without them."""
        for secret in self.hidden:
            text = text.replace(secret, _MASK)
        return text


NOTHING_HIDDEN = Veil()


def veil_over(properties: Mapping[str, str]) -> Veil:
    """Hides the values of these properties, however a message or an address spells them."""
    spelled = {
        spelling
        for key, value in properties.items()
        for line in {value.strip(), *map(str.strip, value.splitlines())}
        if line and (len(line) >= _TELLING or _SECRET_KEY.search(key))
        for spelling in _spellings(line)
    }
    return Veil(tuple(sorted(spelled, key=lambda each: (-len(each), each))))


def _spellings(text: str) -> Iterator[str]:
    yield text
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    yield json.dumps(text)[1:-1]
    yield quote(text, safe="")
