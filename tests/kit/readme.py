"""The commands that the README and the guide of the engine tell people to type."""

import re
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_PAGES: Final = (_ROOT / "README.md", _ROOT / "docs/engine.md")


def commands() -> list[str]:
    """Each command once, as the pages show it: indented, after `$ `, or a `make` with a comment."""
    text = "\n".join(page.read_text() for page in _PAGES)
    found = re.findall(r"^    (?:\$ (?:\.venv/bin/)?(.+)|(make \w+) +#.*)$", text, re.MULTILINE)
    return [*dict.fromkeys(re.sub(r"\s+#.*", "", shown or made).strip() for shown, made in found)]
