"""A real S3 server on loopback, for tests and demos: versitygw, built from its Go module once per user.

python -m tools.s3_server [build]    serves until interrupted; with `build` it only builds the server
"""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tools.go_programs import S3_SERVER
from tools.harness import HarnessError
from tools.parts import PartMissingError, cache_folder

REGION = "us-east-1"

_START_SECONDS = 20.0
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running server. Each folder directly in `folder` is a bucket, each file below it an object."""

    endpoint: str
    access_key: str
    secret_key: str
    folder: Path

    @property
    def options(self) -> dict[str, str]:
        """How to reach it, in Hadoop's names."""
        return {
            "fs.s3a.endpoint": self.endpoint,
            "fs.s3a.endpoint.region": REGION,
            "fs.s3a.access.key": self.access_key,
            "fs.s3a.secret.key": self.secret_key,
            "fs.s3a.path.style.access": "true",
        }

    def make_bucket(self, name: str) -> str:
        """The URL of a new, empty bucket."""
        (self.folder / name).mkdir()
        return f"s3://{name}"


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server with keys of its own and no bucket, gone with all its objects at the end."""
    program = S3_SERVER.built()
    with tempfile.TemporaryDirectory(prefix="s3-server-", dir=_folder_with_attributes()) as scratch:
        folder = Path(scratch)
        for attempt in range(1, _ATTEMPTS + 1):
            server = S3Server(f"http://127.0.0.1:{_free_port()}", secrets.token_hex(8), secrets.token_hex(16), folder)
            with _running(program, server) as is_up:
                if is_up:
                    yield server
                    return
            # Somebody else took the port between our asking for it and the server's start.
            if attempt == _ATTEMPTS:
                raise HarnessError(f"{program} did not come up in {_ATTEMPTS} attempts of {_START_SECONDS} seconds")


def _folder_with_attributes() -> Path:
    """Where the server can keep an object's metadata on the object itself.

    Its other way, metadata in files of their own, is no stand-in for S3: an object that was just created is then
    "not found" for a moment.
    """
    for folder in (Path(tempfile.gettempdir()), cache_folder()):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as probe, suppress(OSError):
            os.setxattr(probe, "user.probe", b"1")
            return folder
    raise RuntimeError(
        f"neither {tempfile.gettempdir()} nor {cache_folder()} takes extended attributes; set TMPDIR to one"
    )


@contextmanager
def _running(program: Path, server: S3Server) -> Iterator[bool]:
    """The server's process for the length of the block; says whether it came up."""
    address = server.endpoint.removeprefix("http://")
    command = [str(program), "--port", address, "--quiet", "--keep-alive", "--region", REGION]
    command += ["posix", str(server.folder)]
    keys = {"ROOT_ACCESS_KEY": server.access_key, "ROOT_SECRET_KEY": server.secret_key}
    process = subprocess.Popen(command, env=_environment(keys), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield _comes_up(process, server)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(keys: Mapping[str, str]) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("VGW_")}
    return {**ours, **keys}


def _comes_up(process: "subprocess.Popen[bytes]", server: S3Server) -> bool:
    without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            without_proxy.open(server.endpoint, timeout=2).close()
        except urllib.error.HTTPError as answer:
            # Without a signature S3 refuses: whoever answers so, and not with our keys' absence, is up.
            answer.close()
            return process.poll() is None
        except OSError:
            time.sleep(0.05)
        else:
            return True
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve() -> None:
    """For trying things by hand."""
    with s3_server() as server:
        print(server.make_bucket("tables"))
        for name, value in server.options.items():
            print(f"--conf {name}={value}")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["build"]:
            print(S3_SERVER.built())
        else:
            serve()
    except PartMissingError as missing:
        sys.exit(str(missing))
