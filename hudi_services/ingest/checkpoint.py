"""Which source files a table holds already: kept in the commit that loaded them, so both become visible in one step."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hoodie.errors import CorruptTableError, SourceError
from hoodie.view import TableState
from hudi_services.ingest.source import SourceFile

KEY = "hudi_services.checkpoint"
_VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """Source folder -> path of each loaded file -> its size in bytes."""

    sources: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def loaded(self, source: str) -> Mapping[str, int]:
        return self.sources.get(source, {})

    def with_files(self, source: str, files: Iterable[SourceFile]) -> Checkpoint:
        """The checkpoint after `files` of `source` were loaded too."""
        return Checkpoint({**self.sources, source: {**self.loaded(source), **{file.path: file.size for file in files}}})

    def without(self, source: str) -> Checkpoint:
        """The checkpoint as if nothing of `source` had been loaded; what other sources delivered stays known."""
        return Checkpoint({name: files for name, files in self.sources.items() if name != source})

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
    """The newest checkpoint on the active timeline; an empty one for a table that never had any.

    Raises SourceError when there is none but older commits were archived: they might have held one, and loading everything
    again must be somebody's decision. Naming the source to `forget` is that decision, also where a checkpoint is broken.
    """
    if forget is None:
        return _newest(state)
    try:
        return _newest(state).without(forget)
    except (CorruptTableError, SourceError):
        return Checkpoint()


def _newest(state: TableState) -> Checkpoint:
    for instant in reversed(state.timeline.commits):
        text = state.commit_metadata(instant).extra.get(KEY)
        if text:
            return Checkpoint.decode(text, state.where(instant))
    # An empty file holds no commits: it only keeps the folder of a new table there.
    if any(file.size for file in state.storage.list(state.layout.archive_folder).files):
        raise SourceError(
            f"Table {state.storage.base_path} has no checkpoint on its active timeline, and older commits were archived",
            found="so it is not known which source files were loaded",
            fix="pass --start-fresh if this table was never loaded from a source folder, or if loading all again is right",
        )
    return Checkpoint()
