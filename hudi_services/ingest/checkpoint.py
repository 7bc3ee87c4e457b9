"""Which source files a table holds already: kept in the commit that loaded them, so both become visible in one step."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.view import TableState
from hudi_services.ingest.places import canonical
from hudi_services.ingest.source import SourceFile

KEY = "hudi_services.checkpoint"
_VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """Source folder -> path of each loaded file -> its size in bytes. One folder may be there in several spellings."""

    sources: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def loaded(self, source: str) -> Mapping[str, int]:
        """The files of `source`, whatever it was called when they were loaded."""
        names = [name for name in self.sources if canonical(name) == canonical(source)]
        return {path: size for name in names for path, size in self.sources[name].items()}

    def with_files(self, source: str, files: Iterable[SourceFile]) -> Checkpoint:
        """The checkpoint after `files` of `source` were loaded too."""
        loaded = {**self.loaded(source), **{file.path: file.size for file in files}}
        return Checkpoint({**self.without(source).sources, canonical(source): loaded})

    def without(self, source: str) -> Checkpoint:
        """The checkpoint as if nothing of `source` had been loaded; what other sources delivered stays known."""
        left = canonical(source)
        return Checkpoint({name: files for name, files in self.sources.items() if canonical(name) != left})

    def encode(self) -> str:
        """Text for a commit's extra metadata: paths repeat their folders, so they are compressed."""
        lines = json.dumps({source: dict(sorted(files.items())) for source, files in sorted(self.sources.items())})
        return json.dumps({"version": _VERSION, "sources": base64.b64encode(zlib.compress(lines.encode(), 9)).decode()})

    @staticmethod
    def decode(text: str, where: str) -> Checkpoint:
        """Raises CorruptTableError naming `where`."""
        try:
            entry = json.loads(text)
            if entry["version"] != _VERSION:
                raise ValueError(f"version {entry['version']}")
            return Checkpoint(json.loads(zlib.decompress(base64.b64decode(entry["sources"]))))
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            raise CorruptTableError(
                f"The checkpoint in {where} cannot be read",
                found=str(error),
                fix="pass --start-fresh to load every file again",
            ) from error


def find_checkpoint(state: TableState, *, forget: str | None = None) -> Checkpoint:
    """The newest checkpoint, on the active timeline or else on the archived one; an empty one for a table that never had any.

    Raises CorruptTableError or MissingFileError when it, or an archived timeline that might hold it, cannot be read: loading
    everything again must be somebody's decision. Naming the source to `forget` is that decision.
    """
    if forget is None:
        return _newest(state)
    try:
        return _newest(state).without(forget)
    except (CorruptTableError, MissingFileError):
        return Checkpoint()


def newest_load(state: TableState) -> Mapping[str, str]:
    """The extra metadata of the newest commit with a checkpoint; empty where there is none. Raises as `find_checkpoint`."""
    return next((extra for _, extra in _loads(state)), {})


def _newest(state: TableState) -> Checkpoint:
    for instant, extra in _loads(state):
        return Checkpoint.decode(extra[KEY], state.where(instant))
    return Checkpoint()


def _loads(state: TableState) -> Iterator[tuple[Instant, Mapping[str, str]]]:
    for instant in _commits(state):
        extra = state.commit_metadata(instant).extra
        if extra.get(KEY):
            yield instant, extra


def _commits(state: TableState) -> Iterator[Instant]:
    """Newest first; the archived timeline is opened only when the active one is through."""
    yield from reversed(state.timeline.commits)
    for instant in state.archive.newest():
        if instant.action in WRITE_ACTIONS:
            yield instant
