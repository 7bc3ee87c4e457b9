"""Which source files a table holds already: kept in the commit that loaded them, so both become visible in one step."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hoodie.errors import CorruptTableError
from hudi_services.ingest.files.listing import SourceFile
from hudi_services.ingest.places import canonical
from hudi_services.ingest.source import Position

KEY = "hudi_services.checkpoint"
"""Where a commit has it, in its extra metadata."""
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
    def decode(position: Position) -> Checkpoint:
        """Raises CorruptTableError naming the commit."""
        try:
            entry = json.loads(position.text)
            if entry["version"] != _VERSION:
                raise ValueError(f"version {entry['version']}")
            return Checkpoint(json.loads(zlib.decompress(base64.b64decode(entry["sources"]))))
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            raise CorruptTableError(
                f"The checkpoint in {position.where} cannot be read",
                found=str(error),
                fix="pass --start-fresh to load every file again",
            ) from error
