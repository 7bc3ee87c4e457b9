"""Changes of a table as rows that an upsert takes: new images, and old ones that are to be deleted. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.changes import AFTER, BEFORE, DELETE, OP, UPDATE

DELETED = "_hudi_services_deleted"
"""The column that is true for rows to be deleted. It is not stored."""


def rows_to_apply(changes: pa.Table, placed_by: Sequence[str]) -> pa.Table:
    """Return the rows of an upsert that applies net changes, with the column `DELETED`.

    `placed_by` are the columns that make key and partition of the target: a row in which one of them changed is also deleted
    where it was. Deletions come first, because as the later one of two rows of one key wins.
    """
    op, before, after = (changes[name].combine_chunks() for name in (OP, BEFORE, AFTER))
    deleted = pc.equal(op, DELETE)
    updated = pc.equal(op, UPDATE)
    for name in placed_by:
        if after.type.get_field_index(name) >= 0:
            deleted = pc.or_(deleted, pc.and_(updated, _differ(before.field(name), after.field(name))))
    stays = pc.not_equal(op, DELETE)
    return pa.concat_tables([_rows(before.filter(deleted), True), _rows(after.filter(stays), False)])


def _differ(one: pa.Array, other: pa.Array) -> pa.Array:
    both_null = pc.and_(pc.is_null(one), pc.is_null(other))
    return pc.and_not(pc.invert(pc.fill_null(pc.equal(one, other), False)), both_null)


def _rows(images: pa.StructArray, deleted: bool) -> pa.Table:
    names = [field.name for field in images.type]
    flags = pa.repeat(pa.scalar(deleted), len(images))
    return pa.table([*images.flatten(), flags], names=[*names, DELETED])
