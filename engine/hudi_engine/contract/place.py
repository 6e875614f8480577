"""Where a table is, however its path is spelt."""

import re

# Hadoop has several clients of one store; which of them writers use says nothing of where the files are.
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs"}
_URL = re.compile(r"([a-z0-9]+)://(.*)")


def place_of(base_path: str) -> str:
    """The same for all spellings of one place, which two resources, or a resource and a run, may share."""
    if base_path.startswith("file:"):
        return _folders(f"/{base_path.removeprefix('file:')}")
    url = _URL.fullmatch(base_path)
    return _folders(base_path) if url is None else f"{_SCHEMES.get(url[1], url[1])}://{_folders(url[2])}"


def is_within(place: str, folder: str) -> bool:
    """Whether the place is the folder or below it, both as `place_of` has them; `/` and `s3://` are no folders."""
    parts = place.split("/")
    return not {".", ".."} & set(parts) and bool(folder.strip("/")) and f"{place}/".startswith(f"{folder}/")


def _folders(path: str) -> str:
    return re.sub(r"/+", "/", path).rstrip("/")
