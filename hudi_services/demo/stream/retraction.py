"""Sums that follow changes: what a row was is subtracted from its group, what it is now is added."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.changes import AFTER, BEFORE

ORDERS, REVENUE = "orders", "revenue"
EMPTY = "is_empty"
"""True in totals of a group that has no order any more."""


@dataclass(frozen=True)
class Retraction:
    """The number of orders and the revenue of the groups of some columns.

    `count` and `revenue` name columns of the images. Without `count` each row is one order.
    """

    groups: tuple[str, ...]
    count: str | None
    revenue: str

    def deltas(self, changes: pa.Table) -> pa.Table:
        """Return what changes with the columns `before` and `after` add to each group. Groups that they leave as they are, are
        left out."""
        sides = [self._signed(changes[AFTER], 1), self._signed(changes[BEFORE], -1)]
        return self.summed(pa.concat_tables(sides))

    def summed(self, deltas: pa.Table) -> pa.Table:
        """Return one row for each group."""
        sums = deltas.group_by(self.groups).aggregate([(ORDERS, "sum"), (REVENUE, "sum")])
        sums = sums.rename_columns([*self.groups, ORDERS, REVENUE])
        return sums.filter(pc.or_(pc.not_equal(sums[ORDERS], 0), pc.not_equal(sums[REVENUE], 0)))

    def totals(self, stored: pa.Table, deltas: pa.Table) -> pa.Table:
        """Return the new rows of the groups in `deltas`, with the column `EMPTY`. `stored` are the rows of the target."""
        names = [*self.groups, ORDERS, REVENUE]
        touched = stored.select(names).join(deltas.select(self.groups), list(self.groups), join_type="left semi")
        sums = pa.concat_tables([touched.select(names), deltas.select(names)], promote_options="permissive")
        sums = sums.group_by(self.groups).aggregate([(ORDERS, "sum"), (REVENUE, "sum")]).rename_columns(names)
        return sums.append_column(EMPTY, pc.equal(sums[ORDERS], 0))

    def _signed(self, images: pa.ChunkedArray, sign: int) -> pa.Table:
        images = images.combine_chunks().drop_null()
        count = pa.repeat(pa.scalar(1, pa.int64()), len(images)) if self.count is None else _field(images, self.count)
        return pa.table(
            {name: _field(images, name) for name in self.groups}
            | {ORDERS: pc.multiply(count, sign), REVENUE: pc.multiply(_field(images, self.revenue), sign)}
        )


def _field(images: pa.StructArray | pa.ChunkedArray, name: str) -> pa.Array:
    return pc.struct_field(images, name)
