"""A folder of files as a source: its position is the checkpoint, the list of all files that were loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.engine import Engine
from hoodie.errors import ConfigError, CorruptTableError
from hoodie.services.decision import Item, Items
from hoodie.storage import open_storage
from hudi_services.feed.model import Feed
from hudi_services.ingest.files.checkpoint import KEY, Checkpoint
from hudi_services.ingest.files.listing import list_source
from hudi_services.ingest.files.plan import FilesPlan, Window, plan_files
from hudi_services.ingest.files.readers import FileSplit, file_splits
from hudi_services.ingest.files.schema import FileSchemas, with_later
from hudi_services.ingest.files.unite import unite
from hudi_services.ingest.places import Places, canonical
from hudi_services.ingest.source import Position


@dataclass(frozen=True)
class FilesSource:
    """Files of one format below `folder`, of the days of `window` in their paths; each once, but with `reload` again.

    `later` are columns of the files that get these types when the rows are shaped.
    """

    folder: str
    file_format: str
    date_pattern: str | None = None
    window: Window = field(default_factory=Window)
    reload: bool = False
    feed: Feed = field(default_factory=Feed)
    later: pa.Schema = field(default_factory=lambda: pa.schema([]))

    @property
    def name(self) -> str:
        return self.folder

    @property
    def position_key(self) -> str:
        return KEY

    def discover(self, position: Position | None, places: Places, *, start_fresh: bool) -> FileBatch:
        """The files that were not loaded before."""
        if not self.window.is_open and self.date_pattern is None:
            raise ConfigError(
                "A date range needs a date pattern", fix="pass --source-date-pattern, for instance dt=%Y-%m-%d"
            )
        places.check_source(self.folder)
        own = [canonical(places.table), canonical(places.quarantine)]
        files = list_source(self.folder, self.file_format, self.date_pattern, own)
        before = self._checkpoint(position, start_fresh=start_fresh)
        return FileBatch(self, before, plan_files(files, before.loaded(self.folder), self.window, reload=self.reload))

    def _checkpoint(self, position: Position | None, *, start_fresh: bool) -> Checkpoint:
        if position is None:
            return Checkpoint()
        try:
            found = Checkpoint.decode(position)
        except CorruptTableError:
            if not start_fresh:
                raise
            return Checkpoint()
        return found.without(self.folder) if start_fresh else found


@dataclass(frozen=True)
class FileBatch:
    """The files of a plan, and what was loaded `before`."""

    source: FilesSource
    before: Checkpoint
    plan: FilesPlan

    @property
    def items(self) -> Items:
        files = self.plan.files
        return Items("load", tuple(Item(file.path, file.size) for file in files), sum(file.size for file in files))

    @property
    def reason(self) -> str:
        return self.plan.reason

    @property
    def facts(self) -> Mapping[str, object]:
        return {"changed_after_load": [file.path for file in self.plan.changed]}

    @property
    def files(self) -> int:
        return len(self.plan.files)

    @property
    def position(self) -> str:
        return self.before.with_files(self.source.folder, self.plan.files).encode()

    def schema(self, known: pa.Schema | None, engine: Engine) -> pa.Schema:
        """One schema of all files, which workers look into."""
        expected = with_later(known, self.source.later, self.source.file_format)
        look = FileSchemas(open_storage(self.source.folder), self.source.file_format, expected)
        schemas = [schema for found in engine.map(look, [file.path for file in self.plan.files]) for schema in found]
        return unite(schemas, guessed=self.source.file_format != "parquet")

    def splits(self, schema: pa.Schema, tasks: int) -> list[FileSplit]:
        """The files in order, large Parquet files cut into their row groups."""
        return file_splits(open_storage(self.source.folder), self.source.file_format, self.plan.files, schema, tasks)
