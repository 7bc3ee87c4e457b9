"""Files of the history of timeline layout 2: manifests, and the number of the valid one (format notes, section 3.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from hoodie.cache import cached_property
from hoodie.errors import LockLostError
from hoodie.model.time import Time
from hoodie.storage.base import ReplacingStorage, Storage, list_whole
from hoodie.storage.idempotent import create_own, replace_own
from hoodie.timeline.archive.base import missing, torn
from hoodie.timeline.archive.writer import drop

_NAME = re.compile(r"^(\d+)_(\d+)_(\d+)\.parquet\Z", re.ASCII)
_MANIFEST = re.compile(r"^manifest_(\d+)\Z", re.ASCII)
_VERSION = "_version_"


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """A data file, with the parts of its name: least and greatest requested time of its instants, and its level."""

    name: str
    least: Time
    greatest: Time
    level: int
    size: int = 0  # bytes, as the manifest says

    @staticmethod
    def named(name: str, size: int = 0) -> HistoryFile | None:
        """None for a name that is not that of a data file."""
        match = _NAME.match(name)
        return HistoryFile(name, Time.of(match[1]), Time.of(match[2]), int(match[3]), size) if match else None

    @staticmethod
    def of(least: Time, greatest: Time, level: int, size: int) -> HistoryFile:
        """The file of these instants and this level."""
        return HistoryFile(f"{least}_{greatest}_{level}.parquet", least, greatest, level, size)


@dataclass(frozen=True)
class Manifest:
    """The files that count. `number` is 0 before anything was archived; `pointer` what `_version_` holds, None without one."""

    number: int
    files: tuple[HistoryFile, ...]
    pointer: bytes | None

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the files."""
        return frozenset(file.name for file in self.files)


@dataclass(frozen=True, slots=True)
class Manifests:
    """The manifests in the folder of a history."""

    storage: Storage
    folder: str

    def current(self) -> Manifest:
        """The one that counts. Raises CorruptTableError or MissingFileError naming what cannot be read.

        Hudi replaces `_version_` in two steps. Without a whole one the newest manifest counts, as in Hudi's reader.
        """
        pointer: bytes | None = None
        with suppress(FileNotFoundError):
            pointer = self.storage.read(self.path(_VERSION))
        complete = pointer is not None and pointer.strip().isdigit()
        number = int(pointer.strip()) if pointer is not None and complete else max(self.numbers(), default=0)
        return Manifest(number, self.files_of(number) if number else (), pointer)

    def numbers(self) -> list[int]:
        """The manifests that are there, whether they count or not."""
        names = (file.name for file in list_whole(self.storage, self.folder).files)
        return [int(match[1]) for name in names if (match := _MANIFEST.match(name))]

    def files_of(self, number: int) -> tuple[HistoryFile, ...]:
        """The files that a manifest names. Raises CorruptTableError or MissingFileError."""
        where = f"{self.storage.base_path}/{self.path(f'manifest_{number}')}"
        try:
            entries = json.loads(self.storage.read(self.path(f"manifest_{number}")))["files"]
            named = [(str(entry["fileName"]), int(entry.get("fileLen") or 0)) for entry in entries]
        except FileNotFoundError:
            raise missing(where, _VERSION) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise torn(where, f"no list of files ({error!r})") from error
        return tuple(self._checked(name, size, where) for name, size in named)

    def replace(self, manifest: Manifest, files: Sequence[HistoryFile]) -> Manifest:
        """Let these files count instead of those of `manifest`, the one that was current.

        A manifest that a killed archiver left, and that never counted, is passed over: its number is not used again. Raises
        LockLostError when another archiver has come in between, as far as the storage shows it.
        """
        entries = [{"fileName": file.name, "fileLen": file.size} for file in files]
        number = max([manifest.number, *self.numbers()]) + 1
        create_own(self.storage, self.path(f"manifest_{number}"), json.dumps({"files": entries}, indent=2).encode())
        pointer = str(number).encode()
        self._point_to(manifest, pointer)
        return Manifest(number, tuple(files), pointer)

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def _point_to(self, manifest: Manifest, number: bytes) -> None:
        storage, path, old = self.storage, self.path(_VERSION), manifest.pointer
        if old is None:
            create_own(storage, path, number)
            return
        if not isinstance(storage, ReplacingStorage):
            drop(storage, path)  # readers take the newest manifest until then
            create_own(storage, path, number)
            return
        storage.delete(self.path(f".{_VERSION}.crc"))
        if not replace_own(storage, path, old, number):
            raise LockLostError(
                f"The archive of table {storage.base_path} was changed by another process",
                found=f"{path} is no longer {old.decode(errors='replace')!r}",
                fix="run `hudi-services archive` again; no instant was removed from the timeline",
            )

    def _checked(self, name: str, size: int, where: str) -> HistoryFile:
        file = HistoryFile.named(name, size)
        if file is None:
            raise torn(where, f"the entry {name!r}, which is not a file of the history")
        return file
