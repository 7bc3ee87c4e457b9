"""The three tables of the streaming demo: each is fed by the changes of the one before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from hoodie import HoodieTable
from hoodie.errors import TableNotFoundError
from hudi_services.demo.stream.retraction import ORDERS, REVENUE

_CHANGES_KEPT = {  # a stream that is down for a while still reads the commits after its checkpoint
    "hoodie.clean.commits.retained": 40,
    "hoodie.keep.min.commits": 50,
    "hoodie.keep.max.commits": 60,
}


@dataclass(frozen=True)
class Layer:
    """A table of the demo. `keys` are its record key, `write` the options of its stream."""

    name: str
    keys: tuple[str, ...]
    schema: pa.Schema
    create: Mapping[str, object]
    write: Mapping[str, object] = field(default_factory=dict)

    def table(self, lake: Path) -> HoodieTable:
        """Open the table, or create it."""
        path = str(lake / self.name)
        try:
            return HoodieTable.open(path)
        except TableNotFoundError:
            named = {
                "hoodie.table.name": self.name,
                "hoodie.table.recordkey.fields": ",".join(self.keys),
            }
            return HoodieTable.create(path, {**named, **self.create}, self.schema)


@dataclass(frozen=True)
class Rollup:
    """The sums of a layer: for each group of `source`'s rows the number of orders and their revenue, in cents."""

    source: Layer
    target: Layer
    count: str | None
    """The column of `source` with numbers of orders. None: each row is one."""

    revenue: str
    """The column of `source` with cents."""


PAID_ORDERS = Layer(
    "paid_orders",
    ("order_id",),
    pa.schema(
        [
            ("order_id", pa.int64()),
            ("version", pa.int64()),
            ("country", pa.string()),
            ("amount", pa.int64()),  # cents
            ("paid", pa.int64()),  # cents
            ("paid_at", pa.timestamp("us", "UTC")),
            ("minute", pa.string()),  # minute of paid_at, as 2026-11-26 01:07
            ("landed_at", pa.timestamp("us", "UTC")),  # time of the later of both events
        ]
    ),
    {"hoodie.table.ordering.fields": "version"},
    _CHANGES_KEPT,
)
BY_MINUTE = Layer(
    "revenue_by_minute",
    ("minute", "country"),
    pa.schema([("minute", pa.string()), ("country", pa.string()), (ORDERS, pa.int64()), (REVENUE, pa.int64())]),
    {},
    _CHANGES_KEPT,
)
BY_COUNTRY = Layer(
    "revenue_by_country",
    ("country",),
    pa.schema([("country", pa.string()), (ORDERS, pa.int64()), (REVENUE, pa.int64())]),
    {},
    _CHANGES_KEPT,
)
LAYERS = (PAID_ORDERS, BY_MINUTE, BY_COUNTRY)
ROLLUPS = (Rollup(PAID_ORDERS, BY_MINUTE, None, "paid"), Rollup(BY_MINUTE, BY_COUNTRY, ORDERS, REVENUE))
