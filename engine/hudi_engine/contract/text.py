"""Words of others, made fit for a terminal and a log."""


def printable(text: str) -> str:
    """One line without what moves a cursor, gives a terminal orders, or turns the direction of letters."""
    return text if text.isprintable() else "".join(map(_fit, text))


def _fit(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "?"
