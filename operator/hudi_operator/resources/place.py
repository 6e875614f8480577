"""Where a table is, however its path is spelt."""


def place_of(base_path: str) -> str:
    """The same for all spellings of one place, which two resources, or a resource and a run, may share."""
    path = base_path.rstrip("/")
    if path.startswith("s3a://"):
        return f"s3://{path[6:]}"
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path
