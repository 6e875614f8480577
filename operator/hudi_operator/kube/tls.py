"""TLS towards the API server that follows its files: Kubernetes replaces authorities and certificates while we run."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Each is None if there is none; without an authority the system's authorities are trusted."""

    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


class _Context(ssl.SSLContext):
    """Checks the certificate against `server_name`, if it is set, instead of the name in the URL."""

    server_name: str | None = None

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        return super().wrap_bio(incoming, outgoing, server_side, self.server_name or server_hostname, session)


@dataclass(frozen=True, slots=True)
class Tls:
    """`follow` before a request: handshakes from then on use the files as they are now."""

    context: ssl.SSLContext
    files: TlsFiles
    _read: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def follow(self) -> None:
        """A new authority is trusted beside the former ones. A file that is being replaced is read the next time."""
        stamps = _stamps(self.files)
        if stamps == self._read:
            return
        try:
            _load(self.context, self.files)
        except (OSError, ssl.SSLError):
            return
        self._read.clear()
        self._read.update(stamps)


def tls_of(
    files: TlsFiles, *, followed: TlsFiles | None = None, server_name: str | None = None, is_verified: bool = True
) -> Tls:
    """`followed` are those of the files that outlive this call, all unless given.

    OSError or ssl.SSLError if a file cannot be read or holds no certificate.
    """
    context = _Context(ssl.PROTOCOL_TLS_CLIENT)
    context.server_name = server_name
    if not is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if files.authority is None:
        context.load_default_certs()
    followed = files if followed is None else followed
    stamps = _stamps(followed)
    _load(context, files)
    return Tls(context, followed, stamps)


def _load(context: ssl.SSLContext, files: TlsFiles) -> None:
    if files.authority is not None:
        context.load_verify_locations(cafile=files.authority)
    if files.certificate is not None:
        context.load_cert_chain(files.certificate, files.key)


def _stamps(files: TlsFiles) -> dict[Path, tuple[int, int]]:
    """The inode and the time of each file that is there."""
    found = {}
    for path in (files.authority, files.certificate, files.key):
        if path is not None and path.exists():
            seen = path.stat()
            found[path] = (seen.st_ino, seen.st_mtime_ns)
    return found
