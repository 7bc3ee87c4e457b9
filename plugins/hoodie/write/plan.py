"""Plan of a write before it may start: options, schema, context. Pure but for the state already read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keygen_checks import with_keygen_options
from hoodie.config.keys import write as keys
from hoodie.config.keys.concurrency import MODE, NON_BLOCKING
from hoodie.config.keys.index import (
    BLOOM_MOVES,
    BLOOM_TYPES,
    BUCKET,
    BUCKET_ENGINE,
    BUCKET_FIELDS,
    CONSISTENT_HASHING,
    GLOBAL_BLOOM,
    GLOBAL_TYPES,
    INDEX_TYPE,
    SIMPLE_MOVES,
)
from hoodie.config.keys.memory import SPILL_FOLDER
from hoodie.config.keys.write import OPERATION
from hoodie.config.operations import Operation, operation_named
from hoodie.config.properties.table import TableProperties
from hoodie.config.table_checks import check_same_table
from hoodie.errors import ConfigError, RecordKeyError, SchemaConflictError, check_argument
from hoodie.formats.base_file import BaseFileOptions
from hoodie.formats.file_format import FileFormat
from hoodie.formats.log.change_writer import ChangeBlocks
from hoodie.keygen import PartitionPaths, RecordKeys, keeps_text, key_generator, misread_times, stored_keys
from hoodie.merge import MergeRules, merge_rules
from hoodie.schema import arrow_to_avro, check_ordering, find_field, normalise, reconcile, top_level
from hoodie.schema.history import StoredColumns
from hoodie.schema.internal import InternalSchema
from hoodie.timeline import Action
from hoodie.transaction.create import never_committed
from hoodie.transaction.data_file import OpenDataFile
from hoodie.view.state import TableState
from hoodie.view.table_schema import table_schema
from hoodie.write.assign import SizingOptions
from hoodie.write.layout_checks import check_layout
from hoodie.write.operation_checks import check_generated_keys, check_partitions, check_policy
from hoodie.write.sizing import input_tasks
from hoodie.write.worker.context import WriteContext


@dataclass(frozen=True)
class WritePlan:
    """A checked write that has not begun."""

    operation: Operation
    options: Options
    properties: TableProperties  # those of the table, with what the options add
    schema: pa.Schema  # data columns of the table after the write
    commit_schema: str  # their Avro JSON, for the commit
    row_schema: pa.Schema  # columns that the rows are brought to: for a delete, only what finds them
    rules: MergeRules
    record_keys: RecordKeys  # made of the columns of a row
    paths: PartitionPaths
    warnings: tuple[str, ...] = ()  # results that need a warning
    deletions: str | None = None  # column of the rows, true for deletions, that is not stored
    versions: tuple[InternalSchema, ...] = ()  # the schemas that the table has had, where their history is kept

    @property
    def combines(self) -> bool:
        """Return whether duplicates within the batch are reduced to one row."""
        return self.operation.finds_keys or self.options[keys.COMBINE_BEFORE_INSERT]

    @property
    def known_keys(self) -> str:
        """Policy for rows whose keys are stored, if the operation adds rows: NONE, DROP or FAIL."""
        return self.options[keys.DUP_POLICY] if self.operation.adds else "NONE"

    @property
    def looks_up(self) -> bool:
        """Return whether the write looks for stored keys."""
        return self.operation.finds_keys or self.known_keys != "NONE"

    @property
    def global_keys(self) -> bool:
        """Return whether keys are unique in the table; otherwise they are in each partition."""
        return self.options[INDEX_TYPE] in GLOBAL_TYPES

    @property
    def looks_at_footers(self) -> bool:
        """Return whether base files whose footers rule out all keys are left out."""
        return self.looks_up and self.options[INDEX_TYPE] in BLOOM_TYPES

    @property
    def bucketed(self) -> bool:
        """Return whether the key of a row decides its place."""
        return self.options[INDEX_TYPE] == BUCKET

    @property
    def hashed_consistently(self) -> bool:
        """Return whether the rings of the partitions decide it; otherwise their number of buckets does."""
        return self.bucketed and self.options[BUCKET_ENGINE] == CONSISTENT_HASHING

    @property
    def non_blocking(self) -> bool:
        """True if other writers may append to the same file groups at the same time."""
        return self.options[MODE] == NON_BLOCKING

    @property
    def appends(self) -> bool:
        """True if new file groups begin with a log, since other writers may begin the same ones."""
        return self.non_blocking and not self.operation.in_one_pass

    @property
    def hashed_fields(self) -> tuple[str, ...]:
        """The key columns whose values decide the bucket of a row."""
        return self.options.get(BUCKET_FIELDS) or self.properties.record_key_fields

    @property
    def places_at_once(self) -> bool:
        """Rows go to new files as they come: nothing has to be known of their keys."""
        return self.operation.in_one_pass and not self.combines and not self.bucketed

    @property
    def moves_keys(self) -> bool:
        """Return whether a row of another partition than that of its key takes the key there."""
        return self.options[BLOOM_MOVES if self.options[INDEX_TYPE] == GLOBAL_BLOOM else SIMPLE_MOVES]

    def tasks(self, input_bytes: int, parallelism: int) -> int:
        """The number of splits to cut an input into, where it can be cut at will. `parallelism` tasks run at once."""
        return input_tasks(self.operation, self.options, input_bytes, parallelism)

    @property
    def sizing(self) -> SizingOptions:
        options = self.options
        return SizingOptions(
            options[keys.MAX_FILE_SIZE],
            options[keys.SMALL_FILE_LIMIT],
            options[keys.RECORD_SIZE_ESTIMATE],
            options[keys.SMALL_FILE_CANDIDATES],
        )


def chosen_operation(requested: str | Operation | None, options: Options) -> Operation:
    """The operation: of the call, of the option, or Hudi's default. Raises ConfigError for an unknown name, and when call and
    option contradict each other."""
    if isinstance(requested, Operation):
        return requested
    check_argument("operation", requested, "the name of an operation, such as 'upsert'", str, type(None))
    if requested is not None and options.is_set(OPERATION) and requested != options[OPERATION]:
        raise ConfigError(
            f"Option {OPERATION.name} contradicts the operation that is asked for",
            found=f"{options[OPERATION]} and {requested}",
            fix="give one of them",
        )
    return operation_named(options[OPERATION] if requested is None else requested)


@dataclass(frozen=True)
class Stored:
    """The table that a write finds: the one of a state, or one without any rows that is to be created (None)."""

    base_path: str
    properties: TableProperties
    state: TableState | None = None

    @property
    def schema(self) -> pa.Schema | None:
        """Its data columns, if it has any yet."""
        return table_schema(self.state) if self.state is not None else None

    @property
    def is_new(self) -> bool:
        """True where it never had a commit."""
        return self.state is None or never_committed(self.state)


def plan_write(
    state: TableState, incoming: pa.Schema, operation: Operation, options: Options, deletions: str | None = None
) -> WritePlan:
    """Check a write of rows with the schema `incoming` before anything is touched. `options` are keys of `CREATE_KEYS` and
    `WRITE_KEYS`. `deletions` is the column, which is not stored, that marks the rows to delete.

    Raises ConfigError (operation or option), UnsupportedTableError (a table that we cannot write), RecordKeyError (a key,
    partition or ordering column is missing), SchemaConflictError.
    """
    stored = Stored(state.storage.base_path, state.properties, state)
    plan = plan_rows(stored, incoming, operation, options, deletions)
    check_layout(state, options, operation, plan.properties)
    return plan


def plan_rows(
    stored: Stored, incoming: pa.Schema, operation: Operation, options: Options, deletions: str | None = None
) -> WritePlan:
    """As `plan_write`, of a table that may have to be created, without a look at its file groups."""
    incoming = _without_mark(incoming, deletions, operation)
    check_same_table(stored.properties, options)
    properties = with_keygen_options(stored.properties, options)
    properties.check_writable()
    check_generated_keys(properties, operation)
    check_policy(properties, operation, options[keys.DUP_POLICY])
    check_partitions(properties, operation)
    record_keys, partition_paths = key_generator(properties)
    needed = (*record_keys.fields, *partition_paths.fields)
    for name in needed:
        if find_field(incoming, name) is None:
            raise RecordKeyError(
                f"Column {name!r}, which the table's keys or partitions are made of, is missing",
                found=f"columns {', '.join(incoming.names)}",
                fix=f"add the column to the rows written to {stored.base_path}",
            )
    existing = stored.schema
    deletes = operation.deletes
    if deletes and existing is not None:
        schema = existing
    else:
        fixed = (*needed, *properties.ordering_fields)
        fills = fills_absent(options)
        schema = normalise(incoming) if existing is None else reconcile(existing, incoming, fills=fills, fixed=fixed)
    ordering = properties.ordering_fields
    missing = [name for name in ordering if find_field(incoming, name) is None]
    if missing and not deletes:
        raise RecordKeyError(
            f"Ordering column {missing[0]!r} is missing",
            found=f"columns {', '.join(incoming.names)}",
            fix="add the column: without it the newer of two rows is unknown",
        )
    if not deletes:
        check_ordering(schema, ordering, logged=properties.has_logs_of_1_x)
    if existing is not None:
        named = normalise(pa.schema([incoming.field(name) for name in top_level(needed)]), nulls=True)
        _check_key_types(needed, named if deletes else existing, schema, deletes=deletes)
    misread = misread_times(partition_paths, incoming)
    if misread is not None and stored.is_new:
        raise misread
    rules = MergeRules((), ()) if deletes else merge_rules(properties)
    rules.check_mark(schema)
    row_schema = pa.schema([schema.field(name) for name in top_level(needed)]) if deletes else schema
    plan = WritePlan(
        operation,
        options,
        properties,
        schema,
        arrow_to_avro(schema, properties.name),
        row_schema,
        rules,
        record_keys,
        partition_paths,
        (f"{misread.what}: {misread.found}, as in its folders so far",) if misread is not None else (),
        deletions,
        stored.state.schemas if stored.state is not None else (),
    )
    _check_index(plan)
    return plan


def _check_index(plan: WritePlan) -> None:
    """Raises ConfigError for a global index where it could not keep what it promises."""
    chosen = f"{INDEX_TYPE.name}={plan.options[INDEX_TYPE]}"
    if plan.looks_at_footers and plan.properties.virtual_keys:
        raise ConfigError(
            f"Option {chosen} is not for table {plan.properties.name!r}, which has virtual keys",
            found="hoodie.populate.meta.fields=false: its files have no bloom filters",
            fix=f"use {INDEX_TYPE.name}=SIMPLE, GLOBAL_SIMPLE or BUCKET",
        )
    if not plan.global_keys or not plan.operation.finds_keys:
        return
    if plan.rules.partial is not None:
        raise ConfigError(
            f"Option {chosen} is not for table {plan.properties.name!r}, whose rows fill each other",
            found="partial updates: of a key that moves, the values that a row does not give would stay behind",
            fix=f"use {INDEX_TYPE.name}=SIMPLE",
        )
    paths = plan.paths
    top_level_only = paths.fields == tuple(top_level(paths.fields)) and not paths.timestamp_fields
    moves = BLOOM_MOVES if plan.options[INDEX_TYPE] == GLOBAL_BLOOM else SIMPLE_MOVES
    if not plan.moves_keys and not top_level_only:
        raise ConfigError(
            f"Option {moves.name}=false is not for table {plan.properties.name!r}",
            found="partitions made of parts of values: a row that stays in another partition than its own would hold a value of "
            "neither",
            fix=f"let keys move ({moves.name}=true), or use {INDEX_TYPE.name}=SIMPLE",
        )


def fills_absent(options: Options) -> bool:
    """Return whether columns that the rows lack are null. Hudi refuses such rows by default; here an option does."""
    return (
        not options.is_set(keys.SET_NULL_FOR_MISSING)
        or options[keys.SET_NULL_FOR_MISSING]
        or options[keys.RECONCILE_SCHEMA]
    )


def _without_mark(incoming: pa.Schema, deletions: str | None, operation: Operation) -> pa.Schema:
    """The columns to store. Raises ConfigError if rows cannot be deletions, SchemaConflictError for an invalid mark."""
    if deletions is None:
        return incoming
    if not operation.finds_keys or operation.deletes:
        raise ConfigError(
            f"Operation {operation.name!r} takes no column that marks deletions",
            found=repr(deletions),
            fix="use upsert",
        )
    fields = [field for field in incoming if field.name == deletions]
    if len(fields) != 1 or fields[0].type != pa.bool_():
        raise SchemaConflictError(
            f"Column {deletions!r}, which marks deletions, is not one boolean column of the rows",
            found=", ".join(str(field.type) for field in fields) or f"columns {', '.join(incoming.names)}",
            fix="cast it to a boolean, or correct its name",
        )
    return pa.schema([field for field in incoming if field.name != deletions], incoming.metadata)


def _check_key_types(fields: Sequence[str], before: pa.Schema, after: pa.Schema, *, deletes: bool) -> None:
    """Values must be the same text in keys and paths `after` they were cast: otherwise a stored row would not be found by its
    key again, or a deletion find another row than the one it names ("01" is not 1)."""
    for name in fields:
        incoming, cast = find_field(before, name), find_field(after, name)
        if incoming is None or cast is None or keeps_text(incoming.type, cast.type):
            continue
        required, other = (cast, incoming) if deletes else (incoming, cast)
        raise SchemaConflictError(
            f"Column {name!r}, which the table's keys or partitions are made of, cannot change its type",
            found=f"{other.type}, where the table has {required.type}: their values make other keys",
            fix=f"cast it to {required.type} before the write",
        )


def commit_action(properties: TableProperties) -> Action:
    """Action of a write, by the table's type."""
    return Action.DELTA_COMMIT if properties.is_merge_on_read else Action.COMMIT


def write_context(plan: WritePlan, writing: OpenDataFile) -> WriteContext:
    """Context for the tasks of the write."""
    properties, options = plan.properties, plan.options
    return WriteContext(
        writing=writing,
        file=FileFormat.of(plan.schema, properties.name, base_file_options(options, properties)),
        schema=plan.row_schema,
        keys=plan.record_keys,
        paths=plan.paths,
        stored_keys=stored_keys(properties, plan.schema),
        rules=plan.rules,
        operation=plan.operation,
        looks_up=plan.looks_up,
        global_keys=plan.global_keys,
        deletions=plan.deletions,
        allow_duplicates=options[keys.ALLOW_DUPLICATES],
        bucketed=plan.bucketed,
        record_positions=_tells_positions(plan),
        max_file_bytes=options[keys.MAX_FILE_SIZE],
        changes=ChangeBlocks.of(properties.cdc_mode, properties.name, plan.schema, writing.instant),
        columns=StoredColumns.of(plan.schema, plan.versions),
        spill_folder=options[SPILL_FOLDER],
    )


def _tells_positions(plan: WritePlan) -> bool:
    """Return whether logs have the positions of their rows in the base file: Hudi knows them from table version 8 on."""
    properties = plan.properties
    return properties.has_logs_of_1_x and plan.options[keys.WRITE_POSITIONS]


def base_file_options(options: Options, properties: TableProperties) -> BaseFileOptions:
    """How base files of a table are written, of a write or a compaction."""
    return BaseFileOptions(
        compression=options[keys.COMPRESSION],
        row_group_bytes=options[keys.ROW_GROUP_SIZE],
        bloom_entries=options[keys.BLOOM_ENTRIES] if options.is_set(keys.BLOOM_ENTRIES) else None,
        bloom_fpp=options[keys.BLOOM_FPP],
        bloom_max_entries=options[keys.BLOOM_MAX_ENTRIES],
        virtual_keys=properties.virtual_keys,
    )
