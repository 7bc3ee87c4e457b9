"""Columns that files or messages of a source lack: null in their rows, or needed there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys.write import SET_NULL_FOR_MISSING
from hoodie.config.operations import Operation
from hoodie.config.properties.table import TableProperties
from hoodie.display import counted, nearest_first, some
from hoodie.errors import MissingColumnError, SchemaConflictError
from hoodie.write.plan import fills_absent
from hudi_services.sources.ingest.columns import is_near, missing_role, roles
from hudi_services.sources.ingest.files.source import FileBatch
from hudi_services.sources.ingest.kafka.batch import TopicBatch
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.shape.shape import Shape
from hudi_services.sources.ingest.source import Batch

Without = Mapping[str, Sequence[str]]
"""The files, or other `parts` of a source, that lack a column, by its name in the source."""


@dataclass(frozen=True)
class MissingColumns:
    """Columns that files lack. Those of the table, or of `schema`, are `null` in the rows of these files. Without the `needed`
    ones, which are those of the key and the order, no row of them is loaded. `renamed` are lines about those that have another
    name there, perhaps."""

    null: Without = field(default_factory=dict)
    needed: Without = field(default_factory=dict)
    parts: str = "files"
    renamed: tuple[str, ...] = ()

    @property
    def warnings(self) -> Iterator[str]:
        """A line for each kind, for people."""
        if self.null:
            yield f"{self.parts} lack columns of the table, which are null in their rows: {_without(self.null)}"
        if self.needed:
            yield f"{self.parts} lack columns of the key or the order, and none of their rows fits: {_without(self.needed)}"
        yield from self.renamed


def missing_columns(
    batch: Batch, shape: Shape, known: pa.Schema | None, operation: Operation, properties: TableProperties
) -> MissingColumns:
    """Find the columns that files or messages of an opened batch lack, for a table of the columns `known`."""
    if isinstance(batch, TopicBatch):
        return MissingColumns(batch.messages_without(known.names if known is not None else ()), parts="messages")
    if not isinstance(batch, FileBatch):
        return MissingColumns()
    key, partition, order = (shape.names(_schema(role.names)) for role in roles(operation, properties))
    needed = [*key, *order]
    names = [] if operation.deletes else [*shape.names(known), *batch.source.feed.columns, *partition]
    null = batch.files_without(name for name in dict.fromkeys(names) if name not in needed)
    needed_without = batch.files_without(dict.fromkeys(needed), also_null=True)
    return MissingColumns(null, needed_without, renamed=tuple(_renamed(batch, shape.names(known))))


def _renamed(batch: FileBatch, of_table: Sequence[str]) -> Iterator[str]:
    """A line for each column of the table that files lack, and one of another name that they bring in its place: it has a similar
    name, or is the only one. Objects of JSON leave out what is null, so that the name has to be similar."""
    feed = batch.source.feed
    known = {*of_table, *feed.columns}
    files: dict[tuple[str, str], list[str]] = {}
    for path, columns in batch.columns.items():
        more = sorted(columns - known)
        lacking = [name for name in of_table if name not in columns] if more else []
        for name in lacking:
            nearest = nearest_first(name, more)[0]
            only = len(lacking) == len(more) == 1 and batch.source.file_format != "json"
            if only or is_near(name, nearest):
                files.setdefault((name, nearest), []).append(path)
    for (name, new), paths in files.items():
        key = f"`rename: {{{new}: {feed.rename.get(name, name)}}}`"
        apart = any(name in columns for columns in batch.columns.values())
        alone = ", and load these files apart from those with the old name (`--files`)" if apart else ""
        yield f"{some(paths, 3)} lack {name} and bring {new}: if it is renamed, say {key} in the source{alone}"


def check_missing(missing: MissingColumns, known: Iterable[str], source: str, options: Options) -> None:
    """Raises SchemaConflictError for files that lack a column of the table, by its name in the source, if the options refuse
    such rows.

    The write would refuse them, but for columns that `schema` declares.
    """
    of_table = {name: missing.null[name] for name in known if name in missing.null}
    if of_table and not fills_absent(options):
        default = "give them a `default` in `schema`, " if missing.parts == "files" else ""
        renamed = "".join(f"; {line}" for line in missing.renamed)
        raise SchemaConflictError(
            f"{missing.parts.capitalize()} of {source} lack columns of the table",
            found=f"{_without(of_table)}, and {SET_NULL_FOR_MISSING.name}=false{renamed}",
            fix=f"add the columns to the {missing.parts}, {default}or remove that option; nothing was loaded",
        )


def needed_failure(
    missing: MissingColumns, batch: Batch, request: IngestRequest, operation: Operation, properties: TableProperties
) -> MissingColumnError | None:
    """The error of files that lack a column of the key or of the order: each of their rows would be bad. None if bad rows are
    allowed, or if SQL may filter them."""
    if request.max_bad_share or request.shape.sql is not None or not isinstance(batch, FileBatch):
        return None
    for role in roles(operation, properties):
        for column in role.names:
            (name,) = request.shape.names(_schema([column]))
            if name in missing.needed:
                first, *others = missing.needed[name]
                more = f" and {counted(len(others), 'more file')}" if others else ""
                where = f"{role} column {name!r} is not in {batch.source.folder}/{first}{more}"
                names = sorted(batch.columns[first])
                elsewhere = any(name in columns for columns in batch.columns.values())
                return missing_role(role, column, where, names, properties.name, first, others_have_it=elsewhere)
    return None


def _schema(names: Iterable[str]) -> pa.Schema:
    return pa.schema([(name.partition(".")[0], pa.null()) for name in names])


def _without(files: Without) -> str:
    return some([f"{name} (not in {some(paths, 3)})" for name, paths in files.items()])
