"""The command `hudi-operator` as it is installed: the operator's own dependencies are an extra."""

import sys


def start() -> None:
    """Run the command, or name the extra to install in place of a traceback."""
    try:
        from hudi_operator.main import main  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("hudi_"):
            raise
        sys.exit(
            f"hudi-operator: the Python module {missing.name} is not installed. "
            "This command needs the extra `operator`: run `pip install 'hudi-operator[operator]'`"
        )
    main()
