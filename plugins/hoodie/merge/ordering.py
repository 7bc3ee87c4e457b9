"""Who wins between a stored row and an incoming row of the same key. Pure (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def incoming_wins(incoming: pa.Table, stored: pa.Table, ordering: Sequence[str]) -> pa.ChunkedArray:
    """Boolean per row pair: the incoming ordering values, compared as a tuple, are greater than or equal to the stored ones.

    Both tables have the ordering columns with equal types and the same number of rows. A null is lower than any value and
    equal to a null, so a tie, with or without nulls, goes to the newer write.
    """
    # From the last field to the first: a field decides unless it is equal, then the fields after it do.
    result: pa.ChunkedArray | None = None
    for name in reversed(ordering):
        new, old = incoming[name], stored[name]
        greater = pc.fill_null(pc.greater(new, old), pc.and_(pc.is_valid(new), pc.is_null(old)))
        equal = pc.fill_null(pc.equal(new, old), pc.and_(pc.is_null(new), pc.is_null(old)))
        later = result if result is not None else True
        result = pc.or_(greater, pc.and_(equal, later))
    if result is None:
        return pa.chunked_array([pa.repeat(True, incoming.num_rows)])
    return result
