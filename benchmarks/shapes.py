"""The shapes of tables that are measured: what every side has to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """A table, the writes that make it, and the query that is timed: `sums` and a count by partition."""

    name: str
    rows: int  # rows in the first load, unless asked otherwise
    upserts: int
    key: tuple[str, ...]
    partition: str
    ordering: str
    sums: tuple[str, ...]  # float64 columns whose values have two decimal places

    def options(self, kind: str) -> dict[str, str]:
        """Options that create our tables; `kind` is COPY_ON_WRITE or MERGE_ON_READ."""
        return {
            "hoodie.table.name": self.name,
            "hoodie.table.recordkey.fields": ",".join(self.key),
            "hoodie.table.partition.fields": self.partition,
            "hoodie.table.ordering.fields": self.ordering,
            "hoodie.table.type": kind,
        }

    @property
    def queried(self) -> list[str]:
        """The columns of the query."""
        return [self.partition, *self.sums, self.key[0]]


TRIPS = Shape("trips", 2_000_000, 3, ("uuid",), "city", "ts", ("fare", "tip"))
WIDE = Shape("wide", 500_000, 1, ("account", "event"), "day", "ts", ("amount", "fee"))


def shape_of(source: str) -> Shape:
    """The shape of an input, by the name of its folder: `trips-2000000`."""
    return {shape.name: shape for shape in (TRIPS, WIDE)}[Path(source).name.partition("-")[0]]
