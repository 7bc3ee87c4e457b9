"""From all changes of a range to one change for each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.changes.query import keyed_schema
from hoodie.changes.slices import passing
from hoodie.errors import DataError
from hoodie.merge.equality import same_values
from hoodie.model.changes import AFTER, BEFORE, DELETE, INSERT, OP, UPDATE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY


@dataclass(frozen=True)
class NetChanges:
    """Function: all changes of some rows, whole and unfiltered -> one change for each row, as it was asked for. Picklable.

    A change that the filter leaves out still decides what became of a row, and so does a column that is not asked for.
    """

    images: pa.Schema  # columns that are asked for
    filter: pc.Expression | None

    def __call__(self, changes: pa.Table) -> pa.Table:
        """Raises what `net_changes` raises."""
        net = net_changes(changes)
        if self.filter is not None and net.num_rows:
            passing_images = [_image_passes(net[name].combine_chunks(), self.filter) for name in (BEFORE, AFTER)]
            net = net.filter(pa.array(passing_images[0] | passing_images[1]))
        schema = keyed_schema(self.images)
        return pa.table(
            [column.cast(field.type) for column, field in zip(net.columns, schema, strict=True)], schema=schema
        )


def net_changes(changes: pa.Table) -> pa.Table:
    """The first image before and the last image after, for each record key and partition, in the order of the last changes.

    `changes` are in their order, with the columns of `keyed_schema`. A row that ends as it began has no change. Raises
    DataError where several rows of a partition have one key, as plain inserts can leave them.
    """
    if not changes.num_rows:
        return changes
    rows = _numbers(changes)
    order = np.argsort(rows, kind="stable")
    begins = np.concatenate([[True], rows[order][1:] != rows[order][:-1]])
    _check_one_row_a_key(changes, order, begins)
    first, last = order[begins], order[np.concatenate([begins[1:], [True]])]
    place = np.argsort(last, kind="stable")
    first, last = first[place], last[place]
    before = changes[BEFORE].combine_chunks().take(pa.array(first))
    result = changes.take(pa.array(last)).combine_chunks()
    after = result[AFTER].combine_chunks()
    was, stays = (np.asarray(image.is_valid().to_numpy(zero_copy_only=False), dtype=bool) for image in (before, after))
    ops = np.where(was & stays, UPDATE, np.where(stays, INSERT, DELETE))
    result = result.set_column(result.schema.get_field_index(OP), result.schema.field(OP), pa.array(ops, pa.string()))
    result = result.set_column(result.schema.get_field_index(BEFORE), result.schema.field(BEFORE), before)
    return result.filter(pa.array(~same_values(before, after)))


def _numbers(changes: pa.Table) -> npt.NDArray[np.int64]:
    """For each change the number of its row: of record key and partition."""
    keys, partitions = (
        pc.dictionary_encode(changes[name].combine_chunks()).indices.to_numpy().astype(np.int64)
        for name in (RECORD_KEY, PARTITION_PATH)
    )
    numbers: npt.NDArray[np.int64] = keys * (int(partitions.max()) + 1) + partitions
    return numbers


def _check_one_row_a_key(changes: pa.Table, order: npt.NDArray[np.int64], begins: npt.NDArray[np.bool_]) -> None:
    """Raise DataError unless each change begins with what the change before it left. Otherwise several rows have the key."""
    counts_after, counts = (
        changes[name].combine_chunks().take(pa.array(places))
        for name, places in ((AFTER, order[:-1]), (BEFORE, order[1:]))
    )
    wrong = np.flatnonzero(~begins[1:] & ~same_values(counts_after, counts))
    if len(wrong):
        change = changes.slice(int(order[wrong[0]]), 1)
        key, partition = (change[name][0].as_py() for name in (RECORD_KEY, PARTITION_PATH))
        raise DataError(
            "One change for each row cannot be given",
            found=f"several rows with the key {key!r} in partition {partition!r}",
            fix="read the changes without net=True, or upsert such keys instead of inserting them",
        )


def _image_passes(image: pa.StructArray, filter: pc.Expression) -> npt.NDArray[np.bool_]:
    valid = np.asarray(image.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
    rows = pa.Table.from_arrays(image.flatten(), schema=pa.schema(image.type.fields))
    passes: npt.NDArray[np.bool_] = valid & passing(rows, filter)
    return passes
