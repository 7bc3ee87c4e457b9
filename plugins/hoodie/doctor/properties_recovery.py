"""`hoodie.properties` that were lost or torn, or are those of another table, made again of what a user declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock
from hoodie.config.properties.store import (
    BACKUP,
    COPYING,
    DROPPED,
    MOVING,
    PROPERTIES,
    create_lost_properties,
    load_properties,
    torn_properties,
    update_properties,
)
from hoodie.config.properties.table import CDC, POPULATE_META_FIELDS, TableProperties
from hoodie.display import counted
from hoodie.errors import (
    ConfigError,
    CorruptFileError,
    CorruptTableError,
    HoodieError,
    MissingFileError,
    UnsupportedTableError,
)
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.index.properties_match import plain_name, properties_mismatch, schema_name
from hoodie.keygen import key_generator
from hoodie.model.files import BaseFile
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import find_field, top_level
from hoodie.storage.base import Storage, walk_files
from hoodie.storage.idempotent import create_own
from hoodie.timeline import Action, layout_of, load_timeline
from hoodie.transaction.locks import Locking, table_lock, verify_held
from hoodie.transaction.quarantine import move_aside
from hoodie.view import TableState, TableView, load_state
from hoodie.view.table_schema import table_schema

_FILES, _ROWS = 16, 1000  # base files that are opened, and rows of each that are compared
_INSTANT = re.compile(r"\d{14,17}\.")
_GENERATED = r"^\d{14,17}_\d+_\d+$"
"""A key of a table without key columns: instant, split and row."""
_BOOTSTRAP = ".hoodie/.aux/.bootstrap"
REPLACED = ".hoodie/hoodie.properties.replaced"
"""The properties of another table, after a recovery has replaced them."""


@dataclass(frozen=True)
class PropertiesRecovery:
    """The properties that a table gets again. `shown` is what its files agree with, `declared` what no file shows. `replaced` are
    those of another table in their place, and `mismatch` says how the files show that; or what can be read of torn ones, and
    `flaw` says why they cannot be used."""

    base_path: str
    properties: TableProperties
    shown: tuple[str, ...]
    declared: tuple[str, ...]
    replaced: TableProperties | None = None
    mismatch: str | None = None
    flaw: str | None = None


def plan_recovery(storage: Storage, clock: Clock, declared: TableProperties) -> PropertiesRecovery:
    """The recovery of a table that lost its properties, or has those of another one. Nothing is written.

    Reads the commits of the active timeline, and rows of at most 16 base files. Raises ConfigError if the table has its own
    properties or contradicts `declared`, CorruptTableError if no commit is left to compare with, UnsupportedTableError for a
    bootstrapped table.
    """
    torn = _torn(storage)
    replaced, flaw = torn or (None, None)
    mismatch = None
    if torn is None:
        replaced, mismatch = _foreign(storage, clock) or (None, None)
    _check_layout(storage, declared)
    layout = layout_of(declared)
    state = TableState(storage, declared, layout, load_timeline(storage, layout))
    if not state.timeline.commits:
        raise CorruptTableError(
            f"No completed commit of {storage.base_path} is left to compare the properties with",
            fix="restore .hoodie from a copy of the table",
        )
    view = TableView(state)
    shown = [f"timeline of layout {declared.raw['hoodie.timeline.layout.version']}", _checked_type(state)]
    unshown = list(_by_declaration(declared))
    name = _checked_name(state)
    (unshown if name is None else shown).append(f"name {declared.name}")
    _check_columns(state)
    _check_change_logs(view, declared)
    files = _spread([file_slice.base_file for file_slice in view.slices if file_slice.base_file is not None])
    rows = sum(_compared_rows(state, file) for file in files)
    keys = f"key ({', '.join(declared.record_key_fields)}) and partitions ({', '.join(declared.partition_fields)})"
    if rows and not declared.virtual_keys:
        shown.append(f"{keys} of {counted(rows, 'row')} in {counted(len(files), 'base file')}")
    else:
        unshown.append(keys)
    return PropertiesRecovery(storage.base_path, declared, tuple(shown), tuple(unshown), replaced, mismatch, flaw)


def recover_properties_of(storage: Storage, clock: Clock, recovery: PropertiesRecovery, locking: Locking) -> None:
    """Write the properties of a plan. Those of another table are replaced under the table's lock, and a copy of them stays
    (`REPLACED`). Torn ones are moved aside under it. Raises FileExistsError if another process was faster, and leaves its
    file."""
    if recovery.flaw is not None:
        with table_lock(storage, clock, "recover", locking):
            if _torn(storage) != (recovery.replaced, recovery.flaw):
                raise _changed(storage)
            for path in (PROPERTIES, BACKUP):
                move_aside(storage, path, "it cannot be used")
            verify_held()
            create_lost_properties(storage, recovery.properties)
    elif recovery.replaced is None:
        _check_lost(storage)
        create_lost_properties(storage, recovery.properties)
    else:
        with table_lock(storage, clock, "recover", locking):
            _replace(storage, clock, recovery.properties, recovery.replaced)
    load_properties(storage, clock).check_readable()


def _replace(storage: Storage, clock: Clock, properties: TableProperties, replaced: TableProperties) -> None:
    if dict(load_properties(storage, clock).raw) != dict(replaced.raw):
        raise _changed(storage)
    storage.delete(REPLACED)  # the file that an earlier recovery has kept
    create_own(storage, REPLACED, storage.read(PROPERTIES))
    verify_held()
    update_properties(storage, properties)


def _changed(storage: Storage) -> ConfigError:
    return ConfigError(
        f"The properties of {storage.base_path} have changed since the plan was made",
        found=PROPERTIES,
        fix="run the command again",
    )


def _torn(storage: Storage) -> tuple[TableProperties, str] | None:
    """The readable part of properties that cannot be used, and why they cannot; None if the table has others, or lost them."""
    torn = torn_properties(storage) if set(_left(storage)) <= {PROPERTIES, BACKUP} else None
    return (TableProperties(torn[0]), torn[1]) if torn is not None else None


def _foreign(storage: Storage, clock: Clock) -> tuple[TableProperties, str] | None:
    """The properties of another table, and how the files show that; None if the table has none. Raises ConfigError for its own
    ones."""
    if _left(storage) != [PROPERTIES]:
        _check_lost(storage)
        return None
    try:
        state = load_state(storage, clock)
        mismatch = properties_mismatch(state, TableView(state).slices)
    except HoodieError:  # the layout is another one, or the body torn: the doctor says what is wrong
        mismatch = None
    if mismatch is None:
        _check_lost(storage)
        return None
    return state.properties, mismatch


def _left(storage: Storage) -> list[str]:
    present = {file.path for file in storage.list(".hoodie").files}
    return sorted(present.intersection((PROPERTIES, BACKUP, DROPPED, MOVING, COPYING)))


def _check_lost(storage: Storage) -> None:
    if left := _left(storage):
        raise ConfigError(
            f"The properties of {storage.base_path} are not lost",
            found=", ".join(left),
            fix="run `hudi-services doctor`: it says what is wrong with the table",
        )


def _check_layout(storage: Storage, declared: TableProperties) -> None:
    in_folder = any(_INSTANT.match(file.name) for file in storage.list(".hoodie/timeline").files)
    above = any(_INSTANT.match(file.name) for file in storage.list(".hoodie").files)
    if above and not in_folder and declared.version > 6:
        raise _contradiction(storage, "a timeline of table version 6", f"version {declared.version}", "version: 6")
    if in_folder and declared.version == 6:
        raise _contradiction(storage, "a timeline of table version 8 or 9", "version 6", "version: 9")
    if next(iter(walk_files(storage, _BOOTSTRAP)), None) is not None:
        raise UnsupportedTableError(
            f"The properties of {storage.base_path} cannot be made again",
            found="a bootstrapped table: no declaration says where its source files are",
            fix="restore .hoodie/hoodie.properties from a copy of the table",
        )


def _checked_type(state: TableState) -> str:
    """The table type, by the actions of its writes: only a merge-on-read table has delta commits."""
    kind = state.properties.table_type
    if any(instant.action is Action.DELTA_COMMIT for instant in state.timeline):
        stored: str | None = "MERGE_ON_READ"
    elif any(
        instant.action is Action.COMMIT and not state.commit_metadata(instant).moves_rows
        for instant in state.timeline.commits
    ):
        stored = "COPY_ON_WRITE"
    else:  # only replacecommits, which both types have
        return f"no write that contradicts type {kind}"
    if stored != kind:
        raise _contradiction(state.storage, f"commits of type {stored}", kind, f"type: {stored}")
    return f"type {kind}"


def _checked_name(state: TableState) -> str | None:
    """The name that Hudi gives the schema's record; None if no commit has a schema of this form."""
    name = schema_name(state)
    if name is not None and plain_name(name) != plain_name(state.properties.name):
        line = f"hoodie: {{hoodie.table.name: {name}}}"
        raise _contradiction(state.storage, f"the name {name!r}", repr(state.properties.name), line)
    return name


def _check_columns(state: TableState) -> None:
    schema, properties = table_schema(state), state.properties
    for key, names in (
        ("record_key", properties.record_key_fields),
        ("partition_by", properties.partition_fields),
        ("ordering", properties.ordering_fields),
    ):
        for name in names:
            if schema is not None and find_field(schema, name) is None:
                columns = ", ".join(schema.names)
                raise _contradiction(state.storage, f"columns {columns}", repr(name), f"keys: {{{key}: [...]}}")


def _check_change_logs(view: TableView, declared: TableProperties) -> None:
    logs = (log.path for partition in view.files for log in partition.log_files if log.is_cdc)
    if declared.cdc_mode is None and (log := next(logs, None)) is not None:
        raise _contradiction(view.state.storage, f"a log of changes ({log})", f"no {CDC}", f'hoodie: {{{CDC}: "true"}}')


def _by_declaration(declared: TableProperties) -> Iterator[str]:
    ordering = ", ".join(declared.ordering_fields) or "none: the later write wins"
    yield f"ordering ({ordering}), by {declared.merge_mode}"
    if declared.version > 6:
        yield f"version {declared.version}, and not 8"
    yield f"time zone {declared.zone_name} of the timeline"


def _spread(files: Sequence[BaseFile]) -> Sequence[BaseFile]:
    """At most 16 files, from all over the table."""
    step = -(-len(files) // _FILES)
    return files[::step] if files else files


def _compared_rows(state: TableState, file: BaseFile) -> int:
    """The rows of a file whose key and partition are as declared; none of a file that cannot be read, which the doctor names
    once the table has its properties. Raises ConfigError for others."""
    properties = state.properties
    keys, paths = key_generator(properties)
    columns = top_level((*keys.fields, *paths.fields))
    try:
        with open_base_file(state.storage, file) as reader:
            has_keys = RECORD_KEY in reader.schema.names
            rows = next(iter(reader.batches([RECORD_KEY, PARTITION_PATH, *columns], batch_rows=_ROWS)), None)
    except (CorruptFileError, MissingFileError):
        return 0
    if rows is None or properties.virtual_keys:
        return 0
    if not has_keys or rows[RECORD_KEY].null_count:
        line = f'hoodie: {{{POPULATE_META_FIELDS}: "false"}}'
        raise _contradiction(state.storage, f"no stored keys in {file.path}", f"no {POPULATE_META_FIELDS}", line)
    if lacking := [name for name in columns if name not in rows.schema.names]:
        raise _contradiction(state.storage, f"no column {lacking[0]!r} in {file.path}", "a key of it", "keys: {...}")
    if keys.fields:
        _compare(state.storage, file, rows[RECORD_KEY], keys.of(rows), "record_key")
    elif not pc.all(pc.match_substring_regex(rows[RECORD_KEY].cast(pa.string()), _GENERATED)).as_py():
        of_columns = f"keys such as {rows[RECORD_KEY][0].as_py()!r} in {file.path}"
        raise _contradiction(state.storage, of_columns, "a table without key columns", "keys: {record_key: [...]}")
    _compare(state.storage, file, rows[PARTITION_PATH], paths.of(rows), "partition_by")
    return int(rows.num_rows)


def _compare(storage: Storage, file: BaseFile, stored: pa.ChunkedArray, declared: pa.ChunkedArray, key: str) -> None:
    other = pc.fill_null(pc.not_equal(stored.cast(pa.string()), declared.cast(pa.string())), True)
    for place in islice(pc.indices_nonzero(other), 1):
        key_stored, key_declared = stored[place.as_py()].as_py(), declared[place.as_py()].as_py()
        raise _contradiction(storage, f"{key_stored!r} in {file.path}", repr(key_declared), f"keys: {{{key}: [...]}}")


def _contradiction(storage: Storage, stored: str, declared: str, line: str) -> ConfigError:
    return ConfigError(
        f"The entry of the registry is not that of the table at {storage.base_path}",
        found=f"{stored}, where the entry makes {declared}; nothing was written",
        fix=f"correct `{line}` in the entry, and run the command again",
    )
