"""The source of a bootstrap: its files, their footers, and reading them (format notes, section 10). Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from hoodie.engine.base import Engine
from hoodie.engine.pack import packed
from hoodie.errors import CorruptFileError, MissingFileError, SourceError
from hoodie.formats.source_file import SourceFile
from hoodie.formats.source_orc import OrcSource
from hoodie.model.names import PARTITION_METAFILE
from hoodie.schema import conform
from hoodie.storage.base import FileInfo, Storage

_FOOTERS = 16  # at most 16 files a task, unless tasks are limited

_FIX_RUNNING = "wait until the writer is done, and run it again; the source must stay as it is"


@dataclass(frozen=True)
class Footer:
    """Contents of the footer of a source file; with a `problem`, the rest is unknown. Sizes in bytes."""

    info: FileInfo
    rows: int = 0
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    nulls: Mapping[str, int] = field(default_factory=dict)  # nulls in key columns, if statistics have them
    int96: frozenset[str] = frozenset()
    key_bytes: int = 0  # bytes of the key columns as they are stored
    problem: str | None = None

    @property
    def folder(self) -> str:
        """Relative to the source; empty for files that lie in it."""
        return self.info.path.rpartition("/")[0]


def list_source(storage: Storage) -> tuple[FileInfo, ...]:
    """The data files, by path: names that begin with `_` or `.` are passed over, as Spark does.

    Raises SourceError for a Hudi table, a source that is being written to, and one without files.
    """
    files = tuple(sorted(_walk(storage, ""), key=lambda info: info.path))
    if not files:
        raise SourceError(f"The source {storage.base_path} has no data files", fix="correct the path")
    return files


def check_unchanged(storage: Storage, before: Sequence[FileInfo]) -> None:
    """Raises SourceError when files came, went or changed since they were listed."""
    then, now = {info.path: info for info in before}, {info.path: info for info in list_source(storage)}
    changed = sorted(path for path in then.keys() | now.keys() if then.get(path) != now.get(path))
    if changed:
        raise SourceError(
            f"The source {storage.base_path} is being written to",
            found=f"{len(changed)} files came, went or changed during the run: {', '.join(changed[:3])}",
            fix=_FIX_RUNNING,
        )


def read_footers(
    storage: Storage, files: Sequence[FileInfo], keys: Sequence[str], orc: bool, engine: Engine, tasks: int
) -> list[Footer]:
    """The footers of all files, in their order."""
    # A footer takes milliseconds where files are near: so few cost less than a task of their own.
    count = min(tasks, max(engine.parallelism, -(-len(files) // _FOOTERS)))
    read = engine.map(ReadFooters(storage, tuple(keys), orc), packed(files, count, lambda info: 1))
    return sorted((footer for batch in read for footer in batch), key=lambda footer: footer.info.path)


@dataclass(frozen=True)
class ReadFooters:
    """Task function: files -> their footers; a file that cannot be read is a footer with a problem."""

    storage: Storage
    keys: tuple[str, ...]
    orc: bool

    def __call__(self, files: Sequence[FileInfo]) -> list[Footer]:
        return [self._read(info) for info in files]

    def _read(self, info: FileInfo) -> Footer:
        if not info.size:
            return Footer(info, problem="it is empty: 0 bytes")
        try:
            if self.orc:
                with OrcSource(self.storage, info.path) as file:
                    return Footer(info, file.rows, file.schema.remove_metadata())
            with SourceFile(self.storage, info.path) as parquet:
                return self._parquet(info, parquet)
        except (CorruptFileError, MissingFileError, OSError) as error:
            result = error.found if isinstance(error, CorruptFileError) else str(error)
            return Footer(info, problem=f"it cannot be read: {result}")

    def _parquet(self, info: FileInfo, file: SourceFile) -> Footer:
        metadata = file.metadata
        nulls: dict[str, int] = {}
        size = 0
        for group in (metadata.row_group(number) for number in range(metadata.num_row_groups)):
            for column in (group.column(number) for number in range(group.num_columns)):
                if column.path_in_schema in self.keys:
                    size += column.total_compressed_size
                    if column.is_stats_set and column.statistics.has_null_count:
                        nulls[column.path_in_schema] = (
                            nulls.get(column.path_in_schema, 0) + column.statistics.null_count
                        )
        return Footer(info, file.rows, file.schema.remove_metadata(), nulls, file.int96_columns, size)


@dataclass(frozen=True)
class SourceSplit:
    """The rows of one file, with the partition columns of its folders, in the columns of `schema`."""

    storage: Storage
    info: FileInfo
    schema: pa.Schema
    values: tuple[tuple[str, str | None], ...]
    orc: bool

    @property
    def size(self) -> int:
        return self.info.size

    @property
    def files(self) -> int:
        """The one."""
        return 1

    def batches(self) -> Iterator[pa.RecordBatch]:
        for rows in self.tables():
            yield from rows.to_batches()

    def tables(self) -> Iterator[pa.Table]:
        """The same as tables, in the file's order."""
        for rows in self._stored():
            for name, value in self.values:
                if name in self.schema.names and name not in rows.schema.names:
                    rows = rows.append_column(name, pa.repeat(pa.scalar(value, pa.string()), rows.num_rows))
            yield conform(rows, self.schema, rounds=False)

    def narrowed(self, columns: Sequence[str]) -> SourceSplit:
        names = set(columns)
        return replace(self, schema=pa.schema([field for field in self.schema if field.name in names]))

    def _stored(self) -> Iterator[pa.Table]:
        if self.orc:
            with OrcSource(self.storage, self.info.path) as file:
                yield from file.batches(_stored_names(self.schema, file.schema))
        else:
            with SourceFile(self.storage, self.info.path, self.info.size) as parquet:
                yield from parquet.batches(_stored_names(self.schema, parquet.schema), parquet.intervals(None))


def _stored_names(schema: pa.Schema, stored: pa.Schema) -> list[str]:
    """The stored columns among the wanted ones; one column at least, since something has to count the rows."""
    return [name for name in schema.names if name in stored.names] or stored.names[:1]


def _walk(storage: Storage, folder: str) -> Iterator[FileInfo]:
    listing = storage.list(folder)
    dangling = next((path for path in listing.dangling if not _is_hidden(path)), None)
    if dangling is not None:
        raise SourceError(
            f"The link {dangling} in the source {storage.base_path} leads nowhere",
            found="what it leads to is not there, as with a disk that is not mounted",
            fix="bring that back, or remove the link; nothing was written",
        )
    for info in listing.files:
        if info.name == PARTITION_METAFILE:
            raise _hudi_table(storage, info.path)
        if info.name.endswith("._COPYING_"):
            raise SourceError(f"The source {storage.base_path} is being written to", found=info.path, fix=_FIX_RUNNING)
        if not info.name.startswith(("_", ".")):
            yield info
    for sub in listing.folders:
        name = sub.rpartition("/")[2]
        if name == ".hoodie":
            raise _hudi_table(storage, sub)
        if name == "_temporary":
            raise SourceError(f"The source {storage.base_path} is being written to", found=sub, fix=_FIX_RUNNING)
        if not _is_hidden(sub):
            yield from _walk(storage, sub)


def _is_hidden(folder: str) -> bool:
    """True for a folder that Spark passes over."""
    name = folder.rpartition("/")[2]
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _hudi_table(storage: Storage, detail: str) -> SourceError:
    return SourceError(
        f"The source {storage.base_path} is a Hudi table already", found=detail, fix="open it; it needs no bootstrap"
    )
