"""Files of a timeline as Java leaves them, in both layouts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_engine.format import service_records
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.memory import MemoryStorage

_COMMITS = {RecordName.COMMIT, RecordName.REPLACE_COMMIT}


def encode_commit(
    operation: str,
    stats: Mapping[str, object],
    extra: Mapping[str, str],
    replaced: Mapping[str, list[str]] | None = None,
) -> dict[str, object]:
    """The record of a completed commit."""
    more = {} if replaced is None else {"partitionToReplaceFileIds": replaced}
    return {"partitionToWriteStats": stats, "operationType": operation, "extraMetadata": extra, **more}


@dataclass(frozen=True, slots=True)
class InstantFiles:
    """One timeline's folder."""

    storage: MemoryStorage
    folder: str
    version: int

    def request(self, instant: str, action: str, name: RecordName, record: Mapping[str, object]) -> None:
        self._create(f"{instant}.{action}.requested", service_records.encode(name, record, self.version))

    def inflight(self, instant: str, action: str) -> None:
        middle = "" if action == "commit" else f".{action}"
        self._create(f"{instant}{middle}.inflight", b"")

    def begin(self, instant: str, action: str, plan: bytes) -> None:
        """Both files that come before the completed one."""
        self._create(f"{instant}.{action}.requested", plan)
        self.inflight(instant, action)

    def complete(
        self, instant: str, action: str, name: RecordName, record: Mapping[str, object], times: Iterable[str]
    ) -> None:
        """The completed file, at the next of the times."""
        if self.version == 6 and name in _COMMITS:
            data = service_records.encode_commit_json(name, record)
        else:
            data = service_records.encode(name, record, self.version)
        completed = "" if self.version == 6 else f"_{next(iter(times))}"
        self._create(f"{instant}{completed}.{action}", data)

    def remove(self, instant: str) -> None:
        """All files of an instant, the completed one first, as a rollback goes."""
        found = [
            file.name for file in self.storage.list(self.folder) if file.name.startswith((f"{instant}.", f"{instant}_"))
        ]
        for name in sorted(found, key=lambda name: (name.endswith(".requested"), name.endswith(".inflight"))):
            self.storage.delete(f"{self.folder}/{name}")

    def _create(self, name: str, data: bytes) -> None:
        self.storage.create(f"{self.folder}/{name}", data)
