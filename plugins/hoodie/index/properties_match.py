"""Stored rows compared with `hoodie.properties`, which may be those of another table: with other keys and partitions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import CorruptFileError, CorruptTableError, HoodieError, MissingFileError, RecordKeyError
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.keygen import PartitionPaths, RecordKeys, key_generator
from hoodie.model.files import BaseFile, FileSlice
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.model.names import FULL_BOOTSTRAP
from hoodie.schema import find_field, top_level
from hoodie.schema.history import NAMED_ALIKE, StoredColumns
from hoodie.view import TableState, TableView
from hoodie.view.committed_files import written_files
from hoodie.view.table_schema import table_schema

_ROWS = 100  # rows of a file that are compared
_FILES = 3  # newest files, until one has rows
_GENERATED = r"^\d{14,17}_\d+_\d+$"
"""A key of a table without key columns: instant, split and row."""

FOREIGN_FIX = (
    "run `hudi-services table recover`: it makes them again of the table's entry in the registry, if the files agree with "
    "the entry"
)


def properties_mismatch(state: TableState, slices: Iterable[FileSlice]) -> str | None:
    """The mismatch of the newest base file and the properties, in words; None if they agree, or it cannot be known.

    One row that agrees is enough. Bootstrapped files are left out: other files have their columns. Opens one file, or three if
    the first ones have no rows or are damaged.
    """
    try:
        keys, paths = key_generator(state.properties)
    except HoodieError:  # a write meets it and says so
        return None
    if state.properties.virtual_keys:
        return None
    foldered = not state.properties.drops_partition_columns
    files = [
        base for file_slice in slices if (base := file_slice.base_file) is not None and base.instant > FULL_BOOTSTRAP
    ]
    for file in sorted(files, key=lambda file: file.instant, reverse=True)[:_FILES]:
        rows = _some_rows(state, file, keys, paths)
        if rows is not None:
            mismatch = _key_mismatch(keys, rows, file.path)
            return mismatch or (_path_mismatch(paths, rows, file.path) if foldered else None)
    return None


def are_suspect(state: TableState) -> bool:
    """True for properties with another name than the schema of the newest commit, as after a renaming, too, or with columns that
    are not in it. Opens no data file."""
    properties, schema = state.properties, table_schema(state)
    named = (*properties.record_key_fields, *properties.partition_fields)
    if schema is not None and any(find_field(schema, name) is None for name in named):
        return True
    name = schema_name(state)
    return name is not None and plain_name(name) != plain_name(properties.name)


def schema_name(state: TableState) -> str | None:
    """The name of the table in the schema of the newest commit that has one; None if it has not the form of Hudi's writers."""
    for instant in reversed(state.timeline.commits):
        text = state.commit_metadata(instant).schema
        if not text:
            continue
        record = json.loads(text)
        name, namespace = str(record.get("name", "")), str(record.get("namespace", ""))
        return name.removesuffix("_record") if name.endswith("_record") and namespace.startswith("hoodie.") else None
    return None


def plain_name(name: str) -> str:
    """Names of schemas have underscores for other characters."""
    return re.sub(r"[\W_]+", "_", name)


def refuse_foreign_keys(keys: RecordKeys, rows: pa.Table, base_path: str, path: str) -> None:
    """Before rows of the base file at `path` are written again. Raises CorruptTableError if the first ones all have other
    keys than the key columns make: no row of a write would be found."""
    if keys.fields and (mismatch := _key_mismatch(keys, rows.slice(0, _ROWS), path)) is not None:
        raise _foreign_properties(base_path, mismatch)


def refuse_suspect_properties(state: TableState) -> None:
    """Before a write, which may open no stored row. Raises CorruptTableError for properties that are suspect, if a base file in a
    partition of the newest commit shows that they are of another table."""
    if not are_suspect(state):
        return
    written = (written_files(state, [commit])[0] for commit in reversed(state.timeline.commits))
    partitions = next((sorted(files) for files in written if files), [])[:1]
    if (mismatch := properties_mismatch(state, TableView(state, partitions).slices)) is not None:
        raise _foreign_properties(state.storage.base_path, mismatch)


def refuse_foreign_properties(state: TableState) -> None:
    """Raises CorruptTableError for properties that the newest base file shows to be of another table."""
    if (mismatch := properties_mismatch(state, TableView(state).slices)) is not None:
        raise _foreign_properties(state.storage.base_path, mismatch)


def _foreign_properties(base_path: str, mismatch: str) -> CorruptTableError:
    """The error for what `properties_mismatch` has found."""
    return CorruptTableError(
        f"hoodie.properties of {base_path} are not those of its files",
        found=f"{mismatch}; nothing was written",
        fix=FOREIGN_FIX,
    )


def _some_rows(state: TableState, file: BaseFile, keys: RecordKeys, paths: PartitionPaths) -> pa.Table | None:
    names, schema = top_level((*keys.fields, *paths.fields)), table_schema(state)
    renamed = StoredColumns.of(schema, state.schemas) if schema is not None else NAMED_ALIKE
    try:
        with open_base_file(state.storage, file, (), renamed) as reader:
            rows = next(iter(reader.batches([RECORD_KEY, PARTITION_PATH, *names], batch_rows=_ROWS)), None)
    except (CorruptFileError, MissingFileError):
        return None
    if rows is None or not rows.num_rows or RECORD_KEY not in rows.schema.names or rows[RECORD_KEY].null_count:
        return None
    return rows.slice(0, _ROWS)


def _key_mismatch(keys: RecordKeys, rows: pa.Table, path: str) -> str | None:
    """Keys of one column agree with and without its name: releases of Hudi differ in that."""
    stored = rows[RECORD_KEY].cast(pa.string())
    if not rows.num_rows:
        return None
    if not keys.fields:
        agree = pc.match_substring_regex(stored, _GENERATED)
        return None if pc.any(agree).as_py() else f"key {stored[0].as_py()!r:.200} in {path}, and no key column"
    if lacking := [name for name in top_level(keys.fields) if name not in rows.schema.names]:
        return f"no column {lacking[0]!r} in {path}, which is a key column"
    forms = {keys.with_names, keys.with_names and len(keys.fields) > 1}
    try:
        rows = rows.filter(pc.invert(keys.unstable(rows)))  # Hudi has stored those, and they show nothing
        if not rows.num_rows:
            return None
        stored = rows[RECORD_KEY].cast(pa.string())
        made = [RecordKeys(keys.fields, with_names=names).of(rows) for names in forms]
    except RecordKeyError as error:
        return f"{error.what} in {path}"
    if any(pc.any(pc.equal(stored, other)).as_py() for other in made):
        return None
    return f"key {stored[0].as_py()!r:.200} in {path}, where they make {made[0][0].as_py()!r:.200}"


def _path_mismatch(paths: PartitionPaths, rows: pa.Table, path: str) -> str | None:
    """Folders of texts and whole numbers alone: other types have several texts."""
    lacking = [name for name in top_level(paths.fields) if name not in rows.schema.names]
    if lacking:
        return f"no column {lacking[0]!r} in {path}, which is a partition column"
    fields = [rows.schema.field(name) for name in top_level(paths.fields)]
    plain = all(pa.types.is_string(field.type) or pa.types.is_integer(field.type) for field in fields)
    if not plain or paths.timestamp_fields or PARTITION_PATH not in rows.schema.names:
        return None
    try:
        made = paths.of(rows)
    except RecordKeyError:
        return None
    stored = rows[PARTITION_PATH].cast(pa.string())
    if pc.any(pc.equal(stored, made)).as_py() is not False:
        return None
    return f"partition {stored[0].as_py()!r:.200} in {path}, where they make {made[0].as_py()!r:.200}"
