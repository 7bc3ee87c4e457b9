"""Columns that files of a source lack: null in the rows of these files, or needed there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys.write import SET_NULL_FOR_MISSING
from hoodie.config.operations import Operation
from hoodie.config.properties.table import TableProperties
from hoodie.display import some
from hoodie.errors import SchemaConflictError
from hoodie.write.plan import fills_absent
from hudi_services.sources.ingest.columns import roles
from hudi_services.sources.ingest.files.source import FileBatch
from hudi_services.sources.ingest.shape.shape import Shape

Files = Mapping[str, Sequence[str]]
"""The files that lack a column, by its name in the source."""


@dataclass(frozen=True)
class MissingColumns:
    """Columns that files lack. Those of the table, or of `schema`, are `null` in the rows of these files. Without the `needed`
    ones, which are those of the key and the order, no row of them is loaded."""

    null: Files = field(default_factory=dict)
    needed: Files = field(default_factory=dict)

    @property
    def warnings(self) -> Iterator[str]:
        """A line for each kind, for people."""
        if self.null:
            yield f"files lack columns of the table, which are null in their rows: {_without(self.null)}"
        if self.needed:
            yield f"files lack columns of the key or the order, and none of their rows fits: {_without(self.needed)}"


def missing_columns(
    batch: FileBatch, shape: Shape, known: pa.Schema | None, operation: Operation, properties: TableProperties
) -> MissingColumns:
    """Find the columns that files of an opened batch lack, for a table of the columns `known`."""
    of_roles = {role: shape.names(_schema(names)) for role, _, names in roles(operation, properties)}
    needed = [*of_roles["Record key"], *of_roles["Ordering"]]
    names = [] if operation.deletes else [*shape.names(known), *batch.source.feed.columns, *of_roles["Partition"]]
    null = batch.files_without(name for name in dict.fromkeys(names) if name not in needed)
    return MissingColumns(null, batch.files_without(dict.fromkeys(needed), also_null=True))


def check_missing(missing: MissingColumns, known: Iterable[str], source: str, options: Options) -> None:
    """Raises SchemaConflictError for files that lack a column of the table, by its name in the source, if the options refuse
    such rows.

    The write would refuse them, but for columns that `schema` declares.
    """
    of_table = {name: missing.null[name] for name in known if name in missing.null}
    if of_table and not fills_absent(options):
        raise SchemaConflictError(
            f"Files of {source} lack columns of the table",
            found=f"{_without(of_table)}, and {SET_NULL_FOR_MISSING.name}=false",
            fix="add the columns to the files, give them a `default` in `schema`, or remove that option; nothing was loaded",
        )


def _schema(names: Iterable[str]) -> pa.Schema:
    return pa.schema([(name.partition(".")[0], pa.null()) for name in names])


def _without(files: Files) -> str:
    return some([f"{name} (not in {some(paths, 3)})" for name, paths in files.items()])
