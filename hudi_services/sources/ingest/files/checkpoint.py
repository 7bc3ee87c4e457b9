"""The source files that a table holds already, and those that could not be read. The commit of a load keeps both, so that rows
and checkpoint become visible in one step.

Programs that know nothing of files that could not be read find these to be new: they try them again. Programs that know nothing
of the times of files compare their sizes only.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hoodie.errors import CorruptTableError
from hoodie.model.place import identity
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.positions import Position

KEY = "hudi_services.checkpoint"
"""The entry in the extra metadata of a commit."""
_VERSION = 1
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that was left out, as it was then: bytes, time of its last change (ms since 1970), and why it could not be read."""

    size: int
    modified_ms: int
    reason: str

    def is_of(self, file: SourceFile) -> bool:
        return (self.size, self.modified_ms) == (file.size, file.modified_ms)


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file that was loaded, as it was then: bytes, and time of its last change (s since 1970; None: not recorded)."""

    size: int
    changed_s: int | None = None

    @classmethod
    def of(cls, file: SourceFile) -> LoadedFile:
        return cls(file.size, file.modified_ms // 1000)

    def is_of(self, file: SourceFile) -> bool:
        return self in (LoadedFile.of(file), LoadedFile(file.size))


Loaded = Mapping[str, Mapping[str, LoadedFile]]
Left = Mapping[str, Mapping[str, Broken]]


@dataclass(frozen=True)
class Checkpoint:
    """Source folder -> path of each loaded file, and of each that was left out -> what it was.

    One folder may be there in several spellings.
    """

    sources: Loaded = field(default_factory=dict)
    left_out: Left = field(default_factory=dict)

    def loaded(self, source: str) -> Mapping[str, LoadedFile]:
        """The files of `source`, under any name that it had when they were loaded."""
        return _files_of(self.sources, source)

    def broken(self, source: str) -> Mapping[str, Broken]:
        """The files of `source` that were left out, as they could not be read."""
        return _files_of(self.left_out, source)

    def with_files(
        self, source: str, files: Iterable[SourceFile], broken: Mapping[str, Broken] | None = None
    ) -> Checkpoint:
        """The checkpoint after `files` of `source` were loaded too, and those that are `broken` now were left out."""
        loaded = {**self.loaded(source), **{file.path: LoadedFile.of(file) for file in files}}
        others = self.without(source)
        left_out = {**others.left_out, identity(source): broken} if broken else others.left_out
        return Checkpoint({**others.sources, identity(source): loaded}, left_out)

    def without(self, source: str) -> Checkpoint:
        """The checkpoint as if nothing of `source` had been loaded; what other sources delivered stays known."""
        removed = identity(source)
        return Checkpoint(
            {name: files for name, files in self.sources.items() if identity(name) != removed},
            {name: files for name, files in self.left_out.items() if identity(name) != removed},
        )

    def encode(self) -> str:
        """Text for a commit's extra metadata: paths repeat their folders, so they are compressed."""
        sizes = {source: {path: file.size for path, file in files.items()} for source, files in self.sources.items()}
        times = {source: [files[path].changed_s for path in sorted(files)] for source, files in self.sources.items()}
        entry: dict[str, object] = {"version": _VERSION, "sources": _packed(sizes), "changed_s": _compressed(times)}
        if self.left_out:
            plain = {
                source: {path: [file.size, file.modified_ms, file.reason] for path, file in files.items()}
                for source, files in self.left_out.items()
            }
            entry["left_out"] = _packed(plain)
        return json.dumps(entry)

    @staticmethod
    def decode(position: Position) -> Checkpoint:
        """Raises CorruptTableError naming the commit."""
        try:
            entry = json.loads(position.text)
            if entry["version"] != _VERSION:
                raise ValueError(f"version {entry['version']}")
            left_out = _unpacked(entry["left_out"]) if "left_out" in entry else {}
            sizes = _unpacked(entry["sources"])
            times = _unpacked(entry["changed_s"]) if "changed_s" in entry else {}
            return Checkpoint(
                {
                    source: _loaded_files(files, times.get(source, [None] * len(files)))
                    for source, files in sizes.items()
                },
                {source: {path: Broken(*file) for path, file in files.items()} for source, files in left_out.items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
            raise CorruptTableError(
                f"The checkpoint in {position.where} cannot be read",
                found=str(error),
                fix="pass --start-fresh to load every file again",
            ) from error


def _files_of(sources: Mapping[str, Mapping[str, V]], source: str) -> dict[str, V]:
    names = [name for name in sources if identity(name) == identity(source)]
    return {path: size for name in names for path, size in sources[name].items()}


def _loaded_files(sizes: Mapping[str, int], times: Sequence[int | None]) -> dict[str, LoadedFile]:
    """Loaded files by path, from sizes by path and times in the order of the paths."""
    return {path: LoadedFile(sizes[path], changed_s) for path, changed_s in zip(sorted(sizes), times, strict=True)}


def _packed(sources: Mapping[str, Mapping[str, object]]) -> str:
    return _compressed({source: dict(sorted(files.items())) for source, files in sorted(sources.items())})


def _compressed(entry: object) -> str:
    return base64.b64encode(zlib.compress(json.dumps(entry).encode(), 9)).decode()


def _unpacked(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))
