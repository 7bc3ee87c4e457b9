"""Keys of an entry that cannot be, as the declared types show, and keys that are unique in a partition only: pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hoodie.config import CREATE_KEYS, laid_over, select_keys
from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.keys.index import GLOBAL_TYPES, INDEX_TYPE
from hoodie.errors import HoodieError
from hudi_services.entry.feed.types import Type, parse_type
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.source import DatabaseSource, FolderSource, TopicSource
from hudi_services.entry.table import Keys, ServiceSection, Table

if TYPE_CHECKING:
    from hudi_services.sources.ingest.shape.statement import Statement

_NO_TEXT = ("binary", "array", "map", "struct")
_FIX = "write it as string in `schema` or `cast`"


def refused_keys(table: Table) -> Iterator[tuple[tuple[str, ...], str]]:
    """The columns of keys and partitions whose declared type no load takes. Types that `sql` makes are known only when it
    runs."""
    source, keys = table.folder, table.keys
    if source is None or keys is None or source.sql is not None:
        return
    for name in keys.record_key:
        kind = _declared(source, name)
        if kind is not None and kind.name == "timestamp":
            yield (
                ("keys", "record_key"),
                f"{name!r} is a {kind}: Hudi's operations write different keys for one time with a zone; {_FIX}, or use "
                "timestamp_ntz",
            )
        elif kind is not None and kind.name in _NO_TEXT:
            yield ("keys", "record_key"), f"{name!r} is a {kind}, which has no text for a key; {_FIX}"
    for name in keys.partition_by:
        kind = _declared(source, name)
        if kind is not None and kind.name in ("timestamp", "timestamp_ntz") and not _makes_folders(table, keys, name):
            yield (
                ("keys", "partition_by"),
                f"{name!r} is a {kind}: Hudi cannot read the folders that it makes of times; partition by a date, or by "
                "hoodie.table.keygenerator.type: TIMESTAMP",
            )
        elif kind is not None and kind.name in _NO_TEXT:
            yield ("keys", "partition_by"), f"{name!r} is a {kind}, which makes no folder; {_FIX}"


def keys_per_partition(table: Table) -> Iterator[str]:
    """A line where a key is unique in its partition only, so that the row of another partition would be a second one.

    None if the rows of a key cannot have two partitions: they are a function of the key, or the entry says so. None for a table
    of a database server, whose changes also name the row before.
    """
    source, keys = table.source, table.keys
    if source is None or isinstance(source, DatabaseSource) or keys is None or keys.fixed_partition:
        return
    if isinstance(source, FolderSource) and source.operation not in ("upsert", "delete"):
        return
    outside = list(_not_of_key(source, keys))
    index = _index(table)
    if not outside or index is None or index in GLOBAL_TYPES:
        return
    key, where = ", ".join(keys.record_key), ", ".join(outside)
    yield (
        f"key {key} is unique in each {where} only, by the index {index}: a row that comes with another {where} is there twice. "
        f"Set hoodie.index.type: GLOBAL_SIMPLE below {table.loader}.hoodie, add {where} to the key, or say "
        f"keys.fixed_partition: true if a key never comes with another {where}"
    )


def _not_of_key(source: FolderSource | TopicSource, keys: Keys) -> Iterator[str]:
    """The partition columns that are neither columns of the key nor computed from such ones by the SQL of the source, row by
    row."""
    names = (name.partition(":")[0] for name in keys.partition_by)
    outside = [name for name in names if name not in keys.record_key]
    sql = source.sql if isinstance(source, FolderSource) else None
    if not outside or sql is None:
        yield from outside
        return
    from hudi_services.sources.ingest.shape.statement import parsed  # loads DuckDB, which most tables do not need

    statement = parsed(sql)
    of_key = {name.lower() for name in map(statement.source_of, keys.record_key) if name is not None}
    yield from (name for name in outside if not _is_made_of(statement, name, of_key))


def _is_made_of(statement: Statement, name: str, columns: set[str]) -> bool:
    inputs = statement.inputs.get(name.lower())
    return inputs is not None and inputs <= columns


def _index(table: Table) -> str | None:
    """The index of the loads; None for a mistake of the registry."""
    section: ServiceSection | None = table.section(table.loader)
    options = laid_over(section.hoodie if section is not None else {}, table.hoodie)
    try:
        index: str = resolve(select_keys(options, [INDEX_TYPE]), [INDEX_TYPE])[INDEX_TYPE]
    except HoodieError:
        return None
    return index


def _makes_folders(table: Table, keys: Keys, name: str) -> bool:
    """True if a key generator makes the folders of this column of times, or if its options are mistakes."""
    try:
        options = {**options_of_new(table, keys), **table.hoodie}
        properties = new_table_properties(resolve(select_keys(options, CREATE_KEYS), CREATE_KEYS))
    except HoodieError:
        return True
    return name.partition(":")[0] in properties.timestamp_partition_fields


def _declared(source: FolderSource, path: str) -> Type | None:
    """The type of a column of the table, or of a field in a struct; None where it is not declared."""
    name, *fields = path.partition(":")[0].split(".")
    kind = _of_column(source, name)
    for field in fields:
        inside = kind.inside if kind is not None and kind.name == "struct" else ()
        kind = next((member.type for member in inside if member.name == field), None)
    return kind


def _of_column(source: FolderSource, name: str) -> Type | None:
    if name in source.cast:
        return parse_type(source.cast[name])
    if name in source.timestamps:
        return Type("timestamp" if source.timestamps[name].times.are_moments else "timestamp_ntz")
    old = next((old for old, new in source.rename.items() if new == name), name)
    return parse_type(source.columns[old].type) if old in source.columns else None
