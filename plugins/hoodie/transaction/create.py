"""Creating a table: checks first, then one visible step (format notes, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from hoodie.clock import Clock
from hoodie.config.create import new_table_properties
from hoodie.config.key import RawOptions, resolve
from hoodie.config.keys.table import CREATE_KEYS
from hoodie.config.properties.store import (
    BACKUP,
    COPYING,
    DROPPED,
    MOVING,
    OCCUPIED,
    PROPERTIES,
    create_properties,
    other_paths_of,
    update_properties,
)
from hoodie.config.properties.table import TableProperties
from hoodie.errors import PendingInstantError, RecordKeyError, TableExistsError, check_argument
from hoodie.keygen import check_key_generator
from hoodie.model.names import PARTITION_METAFILE
from hoodie.schema import arrow_to_avro, check_ordering, find_field, normalise
from hoodie.storage.base import Listing, Storage, walk_files
from hoodie.storage.idempotent import create_own
from hoodie.timeline import Action, layout_of
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking, verify_held
from hoodie.transaction.transaction import transaction
from hoodie.view import TableState
from hoodie.view.table_schema import CREATE_SCHEMA


def create_table(
    storage: Storage,
    options: RawOptions,
    schema: pa.Schema | None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Create an empty table at the storage's base path. `more` are properties that no option sets.

    Raises what `check_creation` raises, and TableExistsError also when another process is faster.
    """
    properties = check_creation(storage, options, schema, more)
    try:
        create_properties(storage, properties)
    except FileExistsError:
        raise TableExistsError(f"Another process has just created {storage.base_path}", fix="open it") from None
    # Hudi cannot open a table whose timeline folder is missing, and an object store has no empty folders. Until this file is
    # there, or the first instant, only we can read the table.
    create_own(storage, _keep(properties), b"")


def check_creation(
    storage: Storage,
    options: RawOptions,
    schema: pa.Schema | None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> TableProperties:
    """The properties that a new table would get. Nothing is written.

    Raises ConfigError, SchemaConflictError, RecordKeyError (a key column is not in `schema`) or TableExistsError: for a table
    that is there, and for a folder with other files in it.
    """
    check_argument("schema", schema, "a pyarrow.Schema, or None", pa.Schema, type(None))
    properties = new_properties(options, schema, more)
    present = storage.list("")
    if ".hoodie" in present.folders and storage.info(PROPERTIES) is not None:
        raise TableExistsError(f"There is a Hudi table at {storage.base_path}", fix="open it, or choose another path")
    if others := [*_left_of_tables(storage, present), *other_paths_of(present)]:
        raise TableExistsError(
            f"Cannot create a table at {storage.base_path}",
            found=f"it is not empty: {', '.join(others[:5])}",
            fix=OCCUPIED,
        )
    return properties


def _left_of_tables(storage: Storage, present: Listing) -> list[str]:
    """Files in `.hoodie` of a table without properties: one that is being dropped, moved or copied, whose properties are replaced
    at this moment, or that has lost them and has instants."""
    if ".hoodie" not in present.folders:
        return []
    marks = {DROPPED, MOVING, COPYING, BACKUP}
    files = [file.path for file in storage.list(".hoodie").files if file.path in marks]
    instants = storage.list(".hoodie/timeline").files
    return [*files, *(file.path for file in instants if not file.name.startswith("."))]


def never_committed(state: TableState) -> bool:
    """Return whether no commit of any kind was ever completed: all files are those of failed writes."""
    completed = (
        instant for instant in state.timeline if instant.is_completed and instant.action is not Action.ROLLBACK
    )
    return next(completed, None) is None and next(iter(state.archive.newest()), None) is None


def is_left_behind(state: TableState, mark: Mapping[str, str]) -> bool:
    """True where all that was ever done to a table is that it was created with the properties `mark`."""
    return all(state.properties.raw.get(name) == value for name, value in mark.items()) and never_committed(state)


def recreate_table(
    storage: Storage,
    clock: Clock,
    options: RawOptions,
    more: Mapping[str, str],
    locking: Locking,
    schema: pa.Schema | None = None,
    *,
    sharing: ConcurrencyOptions | None = None,
) -> None:
    """Give a table that never had a commit the properties of a new one, under its lock. Another writer that `sharing` allows
    counts as dead when its heartbeat is as old as `sharing` says.

    Nothing of it is deleted but the marks of partitions that failed writes made. Raises ConfigError as `create_table`,
    LockHeldError, PendingInstantError when there is a commit or one is at work, TableExistsError when there are other files.
    """
    properties = new_properties(options, schema, more)
    sharing = sharing or ConcurrencyOptions()
    with transaction(storage, clock, "create", locking, sharing) as tx:
        state = tx.state
        if not never_committed(state) or state.timeline.pending:
            raise PendingInstantError(
                f"Table {storage.base_path} is already in use",
                found="a commit, or a writer at work",
                fix="run again when that writer is done, with the options that the table has; a dead writer counts as failed "
                f"{sharing.expiry_ms / 1000:g} s after its last heartbeat",
            )
        present = storage.list("")
        files = [file.path for file in present.files]
        for folder in present.folders:
            files += [file.path for file in walk_files(storage, folder)] if folder != ".hoodie" else []
        metafiles = [path for path in files if path.rpartition("/")[2].startswith(PARTITION_METAFILE)]
        others = sorted(set(files) - set(metafiles))
        if others:
            raise TableExistsError(
                f"Cannot create a table at {storage.base_path}",
                found=f"other files than those of a table without a commit: {', '.join(others[:5])}",
                fix="move them away, or choose another path",
            )
        for path in metafiles:
            storage.delete(path)
        if dict(state.properties.raw) != dict(properties.raw):
            verify_held()
            update_properties(storage, properties)
        create_own(storage, _keep(properties), b"")


def new_properties(
    options: RawOptions, schema: pa.Schema | None = None, more: Mapping[str, str] = MappingProxyType({})
) -> TableProperties:
    """The properties of a new table, with `more` that no option sets. Raises ConfigError, RecordKeyError, SchemaConflictError."""
    properties = new_table_properties(resolve(options, CREATE_KEYS)).with_values(more)
    check_key_generator(properties)
    if schema is not None:
        columns = normalise(schema)
        named = (*properties.record_key_fields, *properties.partition_fields, *properties.ordering_fields)
        lacking = [name for name in named if find_field(columns, name) is None]
        if lacking:
            raise RecordKeyError(
                f"Column {lacking[0]!r} of the table's keys is not in its schema",
                found=f"columns {', '.join(columns.names)}",
                fix="correct the options or the schema",
            )
        check_ordering(columns, properties.ordering_fields, logged=properties.has_logs_of_1_x)
        properties = properties.with_values({CREATE_SCHEMA: arrow_to_avro(columns, properties.name)})
    return properties


def _keep(properties: TableProperties) -> str:
    return f"{layout_of(properties).archive_folder}/.keep"
