"""Rows that move between tables which share the keys of one Hudi table, against a model of the server."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.source_columns import (
    changes_schema,
    changes_with_source,
    fitted_rows,
    schema_with_source,
)
from hudi_services.sources.cdc.mysql.table_source import MergedSource, TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.examples import examples
from tests.support.tables import SMALL_BLOOM

SHARDS = [TableSource("shop", "db", f"s{number}") for number in range(3)]
COLUMNS = pa.schema([("id", pa.int32()), ("town", pa.string()), ("v", pa.int64())])
IMAGE = schema_with_source(COLUMNS)
LAYOUTS = [
    {},
    {"hoodie.table.type": "MERGE_ON_READ"},
    {"hoodie.table.partition.fields": "town", "hoodie.index.type": "GLOBAL_SIMPLE"},
    {"hoodie.table.partition.fields": "town", "hoodie.index.type": "SIMPLE", "hoodie.table.type": "MERGE_ON_READ"},
]


class Server:
    """Tables with rows by their keys, when each row came, and the changes since the last load."""

    def __init__(self):
        self.rows = [{}, {}, {}]
        self.came, self.count = defaultdict(dict), 0
        self.changes = []
        self.emptied = []
        self.unsure = set()
        """Keys that the table with the row deleted while another one still has an older copy, which the lake does not have."""

    def do(self, kind, shard, key, other):
        rows, number = self.rows[shard], len(self.changes)
        row = {"id": key, "town": "ABC"[other % 3], "v": number}
        if kind == "insert" and key not in rows:
            self.log(shard, "i", None, row)
        elif kind == "copy" and key in self.rows[other % 3] and key not in rows:
            self.log(shard, "i", None, dict(self.rows[other % 3][key]))
        elif kind == "update" and key in rows:
            self.log(shard, "u", rows[key], {**row, "town": rows[key]["town"]})
        elif kind == "move" and key in rows and other not in rows:
            self.log(shard, "u", rows[key], {**row, "id": other})
        elif kind == "delete" and key in rows:
            self.log(shard, "d", rows[key], None)
        elif kind == "truncate":
            for gone in list(rows):
                self.leave(shard, gone)
            self.changes = [None if change and change[0] == shard else change for change in self.changes]
            self.emptied.append(shard)

    def log(self, shard, op, before, after):
        self.changes.append((shard, op, before, after))
        if before is not None and (after is None or after["id"] != before["id"]):
            self.leave(shard, before["id"])
        if after is not None:
            key = after["id"]
            if before is None or before["id"] != key:
                self.count += 1
                self.came[key][shard] = self.count
                self.unsure.discard(key)
            self.rows[shard][key] = after

    def leave(self, shard, key):
        del self.rows[shard][key]
        holders = self.came[key]
        if holders and max(holders.values()) == holders[shard]:
            self.unsure.add(key)
        del holders[shard]
        if not holders:
            self.unsure.discard(key)

    def expected(self):
        """The row of each key in the table to which it came last."""
        last = {key: max(holders, key=holders.get) for key, holders in self.came.items() if holders}
        return {(shard, *self.rows[shard][key].values()) for key, shard in last.items() if key not in self.unsure}


class Lake:
    def __init__(self, path, options):
        merged = MergedSource("shop", tuple(SHARDS), global_keys=True)
        self.target = TargetTable(merged, path, {**SMALL_BLOOM, **options}, LocalEngine(1))
        self.target.opened(IMAGE, ["id"], "db.s0")
        self.at = position(0)
        self.target.write_rows(pa.RecordBatchReader.from_batches(IMAGE, []), None, None, lambda: self.at)

    def apply(self, changes, emptied, split, *, are_all=False):
        after = position(int(self.at.position.partition(":")[2]) + 1)
        parts = [piece(changes, shard, numbers) for shard, numbers in pieces(changes, split)]
        sources = [SHARDS[shard] for shard in emptied]
        schema = changes_schema(IMAGE)
        self.target.write_batch(lambda: iter(parts), schema, self.at, after, sources, are_all=are_all)
        self.at = after

    def rows(self):
        rows = HoodieTable.open(self.target.base_path, engine=LocalEngine(1)).read().to_pylist()
        return [(int(row["_source_table"][1:]), row["id"], row["town"], row["v"]) for row in rows]


def position(number):
    return StoredPosition("shop/*", f"log:{number}", "one")


def pieces(changes, split):
    """Numbers of the changes of one table that are decoded together: their order is not that of the log."""
    found = defaultdict(list)
    for number, change in enumerate(changes):
        if change is not None:
            found[number // split, change[0]].append(number)
    return [(shard, numbers) for (_, shard), numbers in sorted(found.items(), reverse=True)]


def piece(changes, shard, numbers):
    image = pa.struct(list(COLUMNS))
    table = pa.table(
        {
            "op": [changes[number][1] for number in numbers],
            "number": pa.array(numbers, pa.int64()),
            "before": pa.array([changes[number][2] for number in numbers], image),
            "after": pa.array([changes[number][3] for number in numbers], image),
        }
    )
    return changes_with_source(table, SHARDS[shard])


KINDS = ["insert", "copy", "copy", "update", "move", "delete", "delete", "commit", "truncate"]
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), max_size=40
)


@settings(max_examples=examples(60), deadline=None)
@given(steps=STEPS, split=st.integers(1, 9), layout=st.sampled_from(LAYOUTS))
def test_a_row_that_moves_between_tables_is_in_the_lake_once(tmp_path_factory, steps, split, layout):
    is_local = layout.get("hoodie.index.type") == "SIMPLE"  # a key of another partition is another row
    server, lake = Server(), Lake(str(tmp_path_factory.mktemp("lake")), layout)
    for kind, shard, key, other in [*steps, ("commit", 0, 0, 0)]:
        if kind != "commit":
            server.do(kind, shard, key, key if is_local and kind == "insert" else other)
            continue
        if server.changes or server.emptied:
            lake.apply(server.changes, server.emptied, split)
            server.changes, server.emptied = [], []
        rows = lake.rows()
        assert {row for row in rows if row[1] not in server.unsure} == server.expected()
        assert len({row[1] for row in rows}) == len(rows)


def test_a_copy_stays_when_the_table_that_deletes_the_row_comes_later(tmp_path):
    """A table that was parked reads what it missed. Its update and delete are of the row that another table has since."""
    lake = Lake(str(tmp_path / "lake"), {})
    old, new = ({"id": 1, "town": "A", "v": value} for value in (1, 2))
    lake.apply([(0, "i", None, old)], [], 1)
    lake.apply([(1, "i", None, new)], [], 1)
    lake.apply([(0, "u", old, {**old, "v": 9})], [], 1)
    assert lake.rows() == [(1, 1, "A", 2)]
    lake.apply([(0, "d", {**old, "v": 9}, None)], [], 1)
    assert lake.rows() == [(1, 1, "A", 2)]


def test_all_rows_of_a_table_are_refused_where_another_one_has_their_keys(tmp_path):
    lake = Lake(str(tmp_path / "lake"), {})
    row = {"id": 1, "town": "A", "v": 1}
    lake.apply([(0, "i", None, row)], [], 1)
    lake.apply([(0, "i", None, row)], [0], 1, are_all=True)
    for changes, emptied in (([(1, "i", None, row)], [1]), ([(0, "i", None, row), (1, "i", None, row)], [0, 1])):
        with pytest.raises(SourceError, match=r"rows of one key.*resume the tables once each row is in one"):
            lake.apply(changes, emptied, 1, are_all=True)
    rows = fitted_rows(pa.Table.from_pylist([row], COLUMNS), SHARDS[1], IMAGE)
    with pytest.raises(SourceError, match="rows of one key"):
        lake.target.write_rows(rows.to_reader(), None, lake.at, lambda: position(9))
    assert lake.rows() == [(0, 1, "A", 1)]
