"""JSON that may come from anybody."""

import json

from hudi_engine.errors import CorruptFile


def parse(data: str | bytes, what: str) -> object:
    """The tree that the text describes. `CorruptFile` says of `what` that it is no JSON in UTF-8, and where not.

    Half of a character, which an escape can spell, is refused too: no file, message or column could carry it.
    """
    try:
        text = data if isinstance(data, str) else data.decode()
        tree: object = json.loads(text)
        if "\\u" in text:
            json.dumps(tree, ensure_ascii=False).encode()
    except UnicodeDecodeError as wrong:
        raise CorruptFile(f"{what} is not UTF-8", wrong.start) from wrong
    except json.JSONDecodeError as wrong:
        offset = len(text[: wrong.pos].encode(errors="replace"))
        raise CorruptFile(f"{what} is no JSON text: {wrong.msg}", offset) from wrong
    except UnicodeEncodeError as wrong:
        raise CorruptFile(f"{what} spells half of a character, which is no text", 0) from wrong
    except (ValueError, RecursionError) as wrong:
        raise CorruptFile(f"{what} is no JSON text that can be read: {wrong}", 0) from wrong
    return tree
