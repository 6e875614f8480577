"""What the README tells people to type."""

import re
from pathlib import Path
from typing import Final

_README: Final = Path(__file__).parents[2] / "README.md"


def commands() -> list[str]:
    """As the README shows them: indented, after `$ `, or a `make` that a person is to type."""
    found = re.findall(r"^    (?:\$ (?:\.venv/bin/)?(.+)|(make \w+) +#.*)$", _README.read_text(), re.MULTILINE)
    return [re.sub(r"\s+#.*", "", shown or made).strip() for shown, made in found]
