"""Rows of changes as the rows that an upsert of a table takes: of each key the last change in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.key import Options
from hoodie.config.operations import operation_named
from hoodie.errors import ConfigError, DataError, SchemaConflictError
from hoodie.keygen import PartitionPaths, RecordKeys
from hoodie.merge import IDENTITY
from hoodie.model.changes import AFTER, BEFORE, COMPLETION_TIME, OP
from hoodie.model.internal_columns import DELETION, ORDER
from hoodie.model.meta_columns import META_COLUMNS, PARTITION_PATH, RECORD_KEY
from hoodie.schema import conform, top_level
from hoodie.view import TableState
from hoodie.write.change_order import last_changes
from hoodie.write.plan import WritePlan, plan_write
from hoodie.write.worker.collisions import refuse_colliding

UPSERTS = ("i", "u", "c", "r", "I", "U", "+I", "+U")
"""Operations whose row is in the table after the change: of the library's feeds, of Debezium, and of Flink."""
DELETES = ("d", "D", "-D", "-U")
"""Operations whose row is not in the table after the change. `-U` is the row of an update before it."""
_UPDATES = ("u", "U", "+U")


@dataclass(frozen=True)
class ChangeColumns:
    """The columns of changes: that of the operation, and those by which changes of a key are ordered.

    Without `order` the completion time of change feeds orders the changes, if the rows have it. `complete`: deletes have all
    columns of their row, so a null in them is its value. Otherwise deletes with nothing but their keys are refused where the
    table has partitions.
    """

    op: str = OP
    order: tuple[str, ...] = ()
    complete: bool = False


@dataclass(frozen=True)
class ChangeRows:
    """Function: rows of changes -> rows to upsert, of each key the last one, true in `@deletion` for deletes. Picklable."""

    op: str
    order: tuple[str, ...]
    deletes_first: bool  # among changes with one place in the order, as in a commit of a feed
    images: bool  # the rows have `before` and `after`
    complete: bool  # deletes have all columns of their row
    data: pa.Schema  # columns to store
    keys: RecordKeys
    paths: PartitionPaths
    stored: pa.Schema  # key and partition columns as the table has them
    global_keys: bool
    ordering: tuple[str, ...]  # by which the table decides between stored rows and new ones

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows to upsert."""
        return self.data.append(pa.field(DELETION, pa.bool_()))

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns of a row with its key that say which row of the table it is."""
        return IDENTITY[:1] if self.global_keys else IDENTITY

    def __call__(self, changes: pa.Table) -> pa.Table:
        """All changes of the keys. Raises what `keyed` and `last` raise."""
        return self.last(self.keyed(changes))

    def keyed(self, changes: pa.Table) -> pa.Table:
        """Return a row for each key that a change writes or deletes, with its key, partition path and place in the order.

        An update that changes the key, or the partition where that is a part of the key, deletes the old row.
        Raises DataError for an unknown operation and for images that are missing, RecordKeyError for keys that are.
        """
        deletes = self._deletes(changes)
        if not self.images:
            return self._with_keys(changes.select(self.data.names), deletes, changes)
        self._check_images(changes, deletes)
        deleted = self._image(changes.filter(deletes), BEFORE)
        stays = changes.filter(pc.invert(deletes))
        after = self._image(stays, AFTER)
        return pa.concat_tables([deleted, *self._deletes_of_moved(stays, after), after])

    def last(self, keyed: pa.Table, *more: str) -> pa.Table:
        """Return the last change of each key, with `more` of the columns.

        Raises what `last_changes` raises, and RecordKeyError where two rows share the text of a key or a path: one would be lost.
        """
        refuse_colliding(self.keys, self.paths, keyed, self.identity)
        order = [name for name in keyed.schema.names if name.startswith(ORDER)]
        last_rows = last_changes(keyed, self.identity, order, self.ordering, deletes_first=self.deletes_first)
        return last_rows.select([*self.schema.names, *more])

    def _deletes(self, changes: pa.Table) -> pa.ChunkedArray:
        ops = changes[self.op].cast(pa.string())
        valid = pc.is_in(ops, value_set=pa.array((*UPSERTS, *DELETES)))
        if not pc.all(valid, min_count=0).as_py():
            unknown = ops.filter(pc.invert(valid))
            raise DataError(
                f"Column {self.op!r} of changes has an operation that is not known",
                found=f"{unknown[0].as_py()!r} in {len(unknown)} of {len(ops)} rows",
                fix="use i, u and d (or Debezium's c and r, or Flink's +I, -U, +U and -D), or drop these rows",
            )
        return pc.is_in(ops, value_set=pa.array(DELETES))

    def _check_images(self, changes: pa.Table, deletes: pa.ChunkedArray) -> None:
        needed = pc.if_else(deletes, pc.is_valid(changes[BEFORE]), pc.is_valid(changes[AFTER]))
        _refuse(changes, pc.invert(needed), "Changes lack the image that says which row they are of")
        if not self._path_counts:
            return
        updates = pc.is_in(changes[self.op].cast(pa.string()), value_set=pa.array(_UPDATES))
        _refuse(
            changes,
            pc.and_(updates, pc.is_null(changes[BEFORE])),
            "Updates lack the image before, without which the partition of the old row is not known",
        )

    @property
    def _path_counts(self) -> bool:
        """True if the partition is a part of the key."""
        return bool(self.paths.fields) and not self.global_keys

    def _image(self, changes: pa.Table, name: str) -> pa.Table:
        """The rows of one image of these changes."""
        image = changes[name].combine_chunks()
        columns = dict(zip((field.name for field in image.type), image.flatten(), strict=True))
        rows = conform(pa.table(columns), self.data) if columns else self.data.empty_table()
        return self._with_keys(rows, pa.chunked_array([pa.repeat(name == BEFORE, len(image))]), changes)

    def _deletes_of_moved(self, changes: pa.Table, after: pa.Table) -> Iterable[pa.Table]:
        """Deletes of the rows that updates leave, as their keys are others afterwards."""
        has = pc.is_valid(changes[BEFORE])
        if not pc.any(has).as_py():
            return
        before = self._image(changes.filter(has), BEFORE)
        identity = IDENTITY if self._path_counts else IDENTITY[:1]
        new = after.select(identity).filter(has)
        moved = np.zeros(before.num_rows, dtype=bool)
        for name in identity:
            moved |= pc.not_equal(before[name], new[name]).to_numpy()
        yield before.filter(pa.array(moved))

    def _with_keys(self, rows: pa.Table, deletes: pa.ChunkedArray, changes: pa.Table) -> pa.Table:
        stored = conform(rows.select(self.stored.names), self.stored)
        self._check_partitions(rows, deletes)
        result = rows.append_column(DELETION, deletes)
        result = result.append_column(RECORD_KEY, self.keys.of(stored))
        result = result.append_column(PARTITION_PATH, self.paths.of(stored))
        for number, name in enumerate(self.order):
            result = result.append_column(f"{ORDER}{number}", changes[name])
        return result

    def _check_partitions(self, rows: pa.Table, deletes: pa.ChunkedArray) -> None:
        """Raise DataError for deletes with nothing but their keys: they would look for the row where it is not."""
        if self.complete or not self._path_counts:
            return
        partition, key = frozenset(top_level(self.paths.fields)), frozenset(top_level(self.keys.fields))
        bare = deletes
        for name in rows.schema.names:
            if name in partition or name not in key:
                bare = pc.and_(bare, pc.is_null(rows[name]))
        if pc.any(bare).as_py():
            raise DataError(
                "Deletes do not say the partition of their row",
                found=f"only key columns in {pc.sum(bare).as_py()} of {rows.num_rows} rows",
                fix="give the partition columns too (Postgres: REPLICA IDENTITY FULL), or use a global index",
            )


def change_rows(state: TableState, schema: pa.Schema, columns: ChangeColumns, options: Options) -> ChangeRows:
    """Check changes with these columns against the table, before there are rows.

    Raises ConfigError for columns that are not there, SchemaConflictError for images of two types, and what `plan_write` raises.
    """
    marked = _row_columns(schema, columns).append(pa.field(DELETION, pa.bool_()))
    return rows_of_plan(plan_write(state, marked, operation_named("upsert"), options, DELETION), schema, columns)


def rows_of_plan(plan: WritePlan, schema: pa.Schema, columns: ChangeColumns) -> ChangeRows:
    """As `change_rows`, for an upsert that is planned. Raises ConfigError and SchemaConflictError."""
    order = columns.order or tuple(name for name in (COMPLETION_TIME,) if name in schema.names)
    needed = top_level((*plan.record_keys.fields, *plan.paths.fields))
    return ChangeRows(
        columns.op,
        order,
        deletes_first=order == (COMPLETION_TIME,),
        images=_has_images(schema),
        complete=columns.complete,
        data=_row_columns(schema, columns),
        keys=plan.record_keys,
        paths=plan.paths,
        stored=pa.schema([plan.schema.field(name).with_nullable(True) for name in needed]),
        global_keys=plan.global_keys,
        ordering=plan.rules.base_ordering,
    )


def _has_images(schema: pa.Schema) -> bool:
    return all(name in schema.names and pa.types.is_struct(schema.field(name).type) for name in (BEFORE, AFTER))


def _row_columns(schema: pa.Schema, columns: ChangeColumns) -> pa.Schema:
    """The columns to store. Raises ConfigError and SchemaConflictError."""
    _check_columns(schema, columns)
    return _image_columns(schema) if _has_images(schema) else _flat_columns(schema, columns.op)


def _check_columns(schema: pa.Schema, columns: ChangeColumns) -> None:
    for name in (columns.op, *columns.order):
        if name not in schema.names:
            raise ConfigError(
                f"Changes have no column {name!r}",
                found=f"columns {', '.join(schema.names)}",
                fix="name the column of the operation (op_column) and those of the order (order_columns)",
            )
    kind = schema.field(columns.op).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise SchemaConflictError(
            f"Column {columns.op!r}, the operation of changes, is not text",
            found=str(kind),
            fix="cast it to a string, or name another column (op_column)",
        )


def _image_columns(schema: pa.Schema) -> pa.Schema:
    fields: dict[str, pa.Field] = {}
    for image in (AFTER, BEFORE):
        for field in schema.field(image).type:
            column = fields.setdefault(field.name, field.with_nullable(True))
            if column.type != field.type:
                raise SchemaConflictError(
                    f"Column {field.name!r} has two types in changes",
                    found=f"{field.type} before, {column.type} after",
                    fix="cast one of the images",
                )
    return pa.schema(fields.values())


def _flat_columns(schema: pa.Schema, op: str) -> pa.Schema:
    return pa.schema([field for field in schema if field.name not in (op, COMPLETION_TIME, *META_COLUMNS)])


def _refuse(changes: pa.Table, bad: pa.ChunkedArray, title: str) -> None:
    """Raise DataError if some changes are bad."""
    if pc.any(bad).as_py():
        raise DataError(
            title,
            found=f"{pc.sum(bad).as_py()} of {changes.num_rows} changes",
            fix="have the source log both images, or drop these changes",
        )
