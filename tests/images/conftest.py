"""Both images are built once, in a store of their own."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.images.container import Container, unpack_image
from tests.kit.base_image import NAME, done, make_base
from tools.images import REPOSITORIES, build

Images = Mapping[str, Container]


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    """By target. chroot and vfs need neither a daemon nor a kernel that mounts overlays in here."""
    folder = tmp_path_factory.mktemp("images")
    folder.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _environment(folder).items():
            patch.setenv(name, value)
        make_base()
        yield {target: unpack_image(build(target, "test", {"BASE": NAME})) for target in REPOSITORIES}
        done("buildah", "rm", "--all")
    shutil.rmtree(folder)


def _environment(folder: Path) -> dict[str, str]:
    settings = folder / "storage.conf"
    settings.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/store"\nrunroot = "{folder}/run"\n')
    return {"BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs", "CONTAINERS_STORAGE_CONF": str(settings)}
