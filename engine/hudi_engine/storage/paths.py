"""Which names a storage takes."""

from hudi_engine.errors import CorruptFile, UnsafePath


def require_file_path(path: str) -> None:
    """Refuse a name that is not plainly below the base: absolute, `.`, `..`, empty parts, NUL, half a character.

    Everything else is a name: spaces, `%`, `=`, `#`, line breaks and any script are taken as they are, and nothing
    is decoded or normalised.
    """
    if "\0" in path:
        raise UnsafePath(f"{path!r}: a name cannot hold a NUL character")
    if path.startswith("/"):
        raise UnsafePath(f"{path!r}: an absolute path; expected one relative to the table")
    for part in path.split("/"):
        if part in {"", ".", ".."}:
            raise UnsafePath(f"{path!r}: the part {part!r} does not name anything inside the table")
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as broken:
        raise UnsafePath(f"{path!r}: holds half of a surrogate pair, which no store can name") from broken


def require_folder_path(folder: str) -> None:
    """As `require_file_path`; the base itself is the folder `""`."""
    if folder:
        require_file_path(folder)


def require_range(path: str, start: int, length: int, size_bytes: int) -> None:
    """Refuse a range that is not wholly there, before anything of its size is allocated."""
    if start < 0 or length < 0 or start + length > size_bytes:
        what = (
            f"{length} bytes wanted from offset {start}, but the file has {size_bytes}: it, or the offset, is damaged"
        )
        raise CorruptFile(what, max(start, 0), path)
