"""What `hudi-operator run` does unless it is told otherwise."""

from importlib.metadata import version

import typer.main

from hudi_operator.main import app
from tools.images import REPOSITORIES


def test_runs_have_the_image_that_make_images_makes_of_this_version() -> None:
    command = typer.main.get_command(app)
    (image,) = (each for each in command.commands["run"].params if each.name == "image")  # type: ignore[attr-defined]  # a group of commands

    assert image.default == f"{REPOSITORIES['engine']}:{version('hudi-operator')}"
