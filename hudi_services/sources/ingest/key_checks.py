"""Keys of an entry that cannot be, as the declared types show, and keys that are unique in a partition only: pure."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.config import CREATE_KEYS, select_keys
from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.keys.index import GLOBAL_TYPES, INDEX_TYPE
from hoodie.errors import HoodieError
from hudi_services.entry.feed.types import Type, parse_type
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.source import FolderSource
from hudi_services.entry.table import Keys, ServiceSection, Table

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


def keys_per_partition(table: Table, section: ServiceSection) -> Iterator[str]:
    """A line where a key is unique in its partition only: the row of another partition would be a second one."""
    keys = table.keys
    if table.source is None or keys is None or not keys.partition_by:
        return
    if table.folder is not None and table.folder.operation not in ("upsert", "delete"):
        return
    folders = [name.partition(":")[0] for name in keys.partition_by]
    try:
        index = resolve(select_keys({**table.hoodie, **section.hoodie}, [INDEX_TYPE]), [INDEX_TYPE])[INDEX_TYPE]
    except HoodieError:  # a mistake of the registry
        return
    if index in GLOBAL_TYPES or set(folders) & set(keys.record_key):
        return
    key, where = ", ".join(keys.record_key), ", ".join(folders)
    yield (
        f"key {key} is unique in each {where} only, by the index {index}: a row that comes with another {where} is there twice. "
        f"Set hoodie.index.type: GLOBAL_SIMPLE below ingest.hoodie, or add {where} to the key"
    )


def _makes_folders(table: Table, keys: Keys, name: str) -> bool:
    """True if a key generator makes the folders of this column of times, or if its options are mistakes."""
    try:
        given = {**options_of_new(table, keys), **table.hoodie}
        properties = new_table_properties(resolve(select_keys(given, CREATE_KEYS), CREATE_KEYS))
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
