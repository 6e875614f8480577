"""Images as archives that containerd imports: no registry, no daemon."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.kit.base_image import NAME, done, make_base
from tests.node.parts import programs
from tests.node.settings import PAUSE
from tools.images import REPOSITORIES, build
from tools.parts import cache_folder, cached

TAG: Final = "tests"

_ROOT: Final = Path(__file__).parents[2]
# What .dockerignore lets into a build, and so all that an image depends on.
_SOURCES: Final = (
    *("Dockerfile", "requirements.lock", "pyproject.toml", "LICENSE", "NOTICE", "README.md"),
    *("engine", "operator", "images"),
)
_EPOCH: Final = 0


def archive(target: str) -> Path:
    """The image of a target of Dockerfile, as localhost/REPOSITORY:tests. Minutes if the sources have changed."""
    name = f"{target}-{_digest()}.tar"
    packed = cached("images", name, lambda folder: _build(target, folder / name))
    for old in packed.parent.glob(f"{target}-*.tar"):
        if old != packed:
            old.unlink(missing_ok=True)  # each takes a gigabyte
    return packed


def _digest() -> str:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *_SOURCES],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    digest = hashlib.sha256()
    for name in sorted(filter(None, listed.stdout.split("\0"))):
        if (_ROOT / name).is_file():
            digest.update(name.encode() + b"\0" + (_ROOT / name).read_bytes())
    return digest.hexdigest()[:12]


def _build(target: str, packed: Path) -> None:
    """Layers are kept in the user's cache: a change of our code does not fetch all packages again."""
    with _store():
        make_base()
        name = build(target, TAG, {"BASE": NAME, "REVISION": TAG})
        done("buildah", "push", "--quiet", name, f"docker-archive:{packed}:localhost/{REPOSITORIES[target]}:{TAG}")


@contextmanager
def _store() -> Iterator[None]:
    folder = cache_folder() / "images"
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "storage.conf"
    settings.write_text(f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/store"\nrunroot = "{folder}/run"\n')
    with _environment(
        {
            "BUILDAH_ISOLATION": "chroot",
            "BUILDAH_LAYERS": "true",
            "CONTAINERS_STORAGE_CONF": str(settings),
            "STORAGE_DRIVER": "overlay",
        }
    ):
        yield


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """buildah, and what calls it, reads its settings from there."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def pause(folder: Path) -> Path:
    """The image of what holds the namespaces of a pod, as `docker save` would write it."""
    layer = _tar([("pause", programs()["pause"].read_bytes())])
    digest = hashlib.sha256(layer).hexdigest()
    described = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Entrypoint": ["/pause"], "User": "65535:65535"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        }
    )
    own = f"{hashlib.sha256(described).hexdigest()}.json"
    manifest = _json([{"Config": own, "RepoTags": [PAUSE], "Layers": [f"{digest}.tar"]}])
    packed = folder / "pause.tar"
    packed.write_bytes(_tar([("manifest.json", manifest), (own, described), (f"{digest}.tar", layer)]))
    return packed


def _json(what: Any) -> bytes:
    return json.dumps(what).encode()


def _tar(files: Sequence[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, content in files:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.mtime = len(content), 0o755, _EPOCH
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
