"""Rows from the logs of one file slice: one per key. Pure Arrow in, Arrow out (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.merge.batch import IDENTITY, latest_per_key
from hoodie.merge.partial import PartialUpdate, folded_per_key
from hoodie.model.internal_columns import RESET, SEQUENCE
from hoodie.schema import top_level


def newest_per_key(
    rows: pa.Table,
    ordering: Sequence[str],
    partial: PartialUpdate | None = None,
    identity: Sequence[str] = IDENTITY,
) -> pa.Table:
    """The winning row of each key after all its rows were applied in their order.

    `rows` are of one partition and have the columns `identity`, the first of which distinguishes their keys, `@sequence`,
    `@reset` and the `ordering` columns. A reset makes what was before it irrelevant; of the rows from it on, the greatest
    ordering value wins, on a tie the later. Only a reset that comes last also wins over the stored row: a row that follows it is
    compared with the base file's row as if there had been no deletion in between (seen with Hudi 1.2.0 and 0.15.0). With
    `partial` it is filled from the others.
    """
    if partial is not None and partial.between_logs:
        return folded_per_key(rows, ordering, partial)
    resets = rows.filter(rows[RESET])
    if not resets.num_rows:
        return latest_per_key(rows, ordering, identity)
    last, key = latest_per_key(resets, (), identity), identity[0]
    since = last[SEQUENCE].take(pc.index_in(rows[key], value_set=last[key].combine_chunks()))
    after = rows.filter(pc.fill_null(pc.greater_equal(rows[SEQUENCE], since), True))
    return latest_per_key(_lowest_where_reset(after, ordering), ordering, identity)


def _lowest_where_reset(rows: pa.Table, ordering: Sequence[str]) -> pa.Table:
    """Ordering values of resets as null, which is the lowest: any row that follows a reset wins."""
    for name in top_level(ordering):
        position = rows.schema.get_field_index(name)
        field = rows.schema.field(position).with_nullable(True)
        none = pa.nulls(rows.num_rows, field.type)
        rows = rows.set_column(position, field, pc.if_else(rows[RESET], none, rows[name]))
    return rows
