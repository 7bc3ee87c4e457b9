"""One history of a table under harmless and under hostile column names: the rows are the same under all names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import pyarrow as pa
import pyarrow.compute as pc

from hoodie import COMPACTION, LOG_COMPACTION, HoodieTable
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM

ROLES = ("key", "part", "order", "value", "text", "nested")
INNER = "inner"  # the field of the struct column `nested`
HARMLESS = dict(zip((*ROLES, INNER), ("k", "p", "o", "v", "t", "n", "i"), strict=True))
HOSTILE = (
    *(
        "__group",
        "__reset",
        "__sequence",
        "__delete",
        "__position",
        "__lacks",
        "__op",
        "__ts_ms",
    ),  # once our own; Debezium's
    *(
        "result",
        "bucket",
        "block",
        "id",
        "_1",
        "_2",
        "values",
        "counts",
        "file",
        "row",
        "reason",
        "text",
    ),  # columns between our stages
    *(
        "key",
        "value",
        "element",
        "array",
        "entries",
        "fixed",
        "record",
        "null",
    ),  # names inside Avro and Parquet schemas
    *("select", "order", "group", "count", "sequence", "delete", "position", "hoodie", "_hoodie", "hoodie_commit_time"),
)


@dataclass(frozen=True)
class Names:
    """The names of a table's columns."""

    of: dict[str, str]

    def table(self, rows: pa.Table) -> pa.Table:
        """Rows of `HARMLESS` columns, renamed."""
        nested = rows[HARMLESS["nested"]].combine_chunks()
        inner = pa.StructArray.from_arrays([nested.field(0)], names=[self.of[INNER]], mask=nested.is_null())
        columns = [inner if role == "nested" else rows[HARMLESS[role]] for role in ROLES]
        return pa.table(columns, names=[self.of[role] for role in ROLES])

    def options(self, **more: str) -> dict[str, str]:
        named = {
            "hoodie.table.name": "t",
            "hoodie.table.recordkey.fields": self.of["key"],
            "hoodie.table.partition.fields": self.of["part"],
            "hoodie.table.ordering.fields": self.of["order"],
        }
        return named | more


def batch(rows) -> pa.Table:
    """Rows of (key, ordering value, value or None) in the harmless columns."""
    keys, orders, values = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "k": pa.array(keys, pa.string()),
            "p": pa.array(["pq"[len(key) % 2] for key in keys], pa.string()),
            "o": pa.array(orders, pa.int64()),
            "v": pa.array(values, pa.int64()),
            "t": pa.array([None if value is None else f"t{value}" for value in values], pa.string()),
            "n": pa.array(
                [None if value is None else {"i": value} for value in values], pa.struct([("i", pa.int64())])
            ),
        }
    )


class Twins:
    """The same history in two tables, one with hostile names. `engine` is that of the second."""

    def __init__(self, folder: str, hostile: dict[str, str], engine=None, **options: str) -> None:
        self.names = (Names(HARMLESS), Names(hostile))
        self.tables = [
            HoodieTable.create(f"{folder}/{number}", names.options(**options), clock=FakeClock(), engine=used)
            for number, names, used in zip(count(), self.names, (None, engine))
        ]

    def run(self, action: str, rows) -> None:
        for table, names in self._pairs():
            if action == "compact":
                table.schedule(COMPACTION, force=True)
                table.run(COMPACTION, SMALL_BLOOM)
            elif action == "merge logs":
                table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
                table.run(LOG_COMPACTION)
            else:
                table.write(names.table(batch(rows)), action, SMALL_BLOOM)

    def check(self, **read) -> None:
        """The same rows, read with these options of `HoodieTable.read`."""
        left, right = (table.read(**read) for table in self.tables)
        assert _sorted(self.names[1].table(left)) == _sorted(right)

    def check_parts(self) -> None:
        """The same rows by a filter, and of one column, by keys and by positions."""
        left, right = (table.read(filter=pc.field(names.of["value"]) > 3) for table, names in self._pairs())
        assert _sorted(self.names[1].table(left)) == _sorted(right)
        for by_position in ("false", "true"):
            options = {"hoodie.merge.use.record.positions": by_position}
            left, right = (table.read([names.of["value"]], options=options) for table, names in self._pairs())
            assert sorted(left[0].to_pylist(), key=repr) == sorted(right[0].to_pylist(), key=repr)

    def _pairs(self):
        return zip(self.tables, self.names, strict=True)


def _sorted(rows: pa.Table) -> list[dict]:
    return sorted(rows.to_pylist(), key=repr)
