"""Tables that share keys, at different places of the log, whose rows move between them: against a model of the server.

The log is written here, and read by the routes of a load. Runs end anywhere, leave tables behind, and read tables again.
"""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import PendingInstantError, SourceError
from hudi_services.sources.cdc.mysql import target_batch
from hudi_services.sources.cdc.mysql.binlog.changes import Shape
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Changes, Unreadable
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.route import Route
from hudi_services.sources.cdc.mysql.source_columns import as_changes, changes_schema, fitted_rows, schema_with_source
from hudi_services.sources.cdc.mysql.table_source import MergedSource, TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey
from hudi_services.sources.cdc.mysql.target_batch import TargetBatch, TargetCommits
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.cdc.row_filter import RowFilter
from tests.support.examples import examples
from tests.support.tables import SMALL_BLOOM

COUNT = 3
SHARDS = [TableSource("shop", "db", f"s{number}") for number in range(COUNT)]
COLUMNS = pa.schema([("id", pa.int32()), ("v", pa.int64())])
IMAGE = schema_with_source(COLUMNS)
KEY = UniqueKey("PRIMARY", ("id",))


class Columns(Shape):
    @property
    def schema(self):
        return COLUMNS


class Server:
    """Tables, their log (shard, operation, images), and when each row came."""

    def __init__(self):
        self.rows = [{} for _ in SHARDS]
        self.came, self.unsure, self.log = {}, set(), []

    def do(self, kind, shard, key, other):
        """Change a row, or move it on: it is inserted, copied to another table, and deleted from one, by turns."""
        holders = [number for number, rows in enumerate(self.rows) if key in rows]
        if kind == "update" and key in self.rows[shard]:
            self.add(shard, "u", self.rows[shard][key], {"id": key, "v": len(self.log)})
        elif kind == "move" and not holders:
            self.add(shard, "i", None, {"id": key, "v": len(self.log)})
        elif kind == "move" and len(holders) == 1 and shard not in holders:
            self.add(shard, "i", None, {**self.rows[holders[0]][key]})
        elif kind == "move":
            gone = holders[other % len(holders)]
            self.add(gone, "d", self.rows[gone][key], None)

    def add(self, shard, op, before, after):
        self.log.append((shard, op, before, after))
        if op == "u" and before["id"] != after["id"]:
            del self.rows[shard][before["id"]]
        key = (after or before)["id"]
        came = self.came.setdefault(key, {})
        if after is None:
            if len(came) > 1 and max(came, key=came.get) == shard:
                self.unsure.add(key)  # another table has an older copy, which the lake gets when it changes
            del came[shard], self.rows[shard][key]
            if not came:
                self.unsure.discard(key)
            return
        if op == "i":
            came[shard] = len(self.log)
            self.unsure.discard(key)
        self.rows[shard][key] = after

    def expected(self):
        owners = {key: max(came, key=came.get) for key, came in self.came.items() if came}
        return {(shard, key, self.rows[shard][key]["v"]) for key, shard in owners.items() if key not in self.unsure}


class Lake:
    """A Hudi table and where its tables are in the log. A transaction ends at each place, from 1 on."""

    def __init__(self, path, options, condition=""):
        merged = MergedSource("shop", tuple(SHARDS), global_keys=True)
        self.target = TargetTable(merged, path, {**SMALL_BLOOM, **options}, LocalEngine(1), filter=RowFilter(condition))
        self.target.opened(IMAGE, ["id"], "db.s0")
        places = {source.full_name: stored(source.source, 0) for source in SHARDS}
        self.at = self.target.joined(None, places)
        self.target.write_rows(pa.RecordBatchReader.from_batches(IMAGE, []), None, None, lambda: self.at)

    def run(self, server, going, end, size, commits=99, damaged=None):
        """Read the log for the tables `going` up to `end`, in groups of `size` transactions. It is killed after `commits`."""
        stopped = TargetCommits(self.target, self.at)
        batch = TargetBatch(stopped, lambda name, place: stored(name, place.offset))
        routes = {}
        for number in going:
            since = self.at.tables[SHARDS[number].full_name].place
            routes[number] = Route(SHARDS[number], batch, since, lambda: (KEY,))
        level = batch.compare(LogPosition("log", len(server.log)))
        cuts = {level.offset, *(route.since.offset for route in routes.values())}
        try:
            for part in groups(server.log[:end], cuts, size):
                number = int(part.shape.table[1:])
                if batch.count >= commits:
                    return
                if number in routes and part.position > min(route.since for route in routes.values()):
                    if number == damaged:
                        routes[number].refuse(Unreadable(part.position, 0, "db", f"s{number}", "bytes are cut off"))
                    else:
                        routes[number].take(part)
            batch.commit(LogPosition("log", end))
        finally:
            self.at = stopped.stored

    def read_again(self, server, shard):
        """Put all rows of a table in place of those that the lake has of it."""
        source, name = SHARDS[shard], SHARDS[shard].full_name
        rows = pa.Table.from_pylist([*server.rows[shard].values()], COLUMNS)
        changes = as_changes(fitted_rows(rows, source, IMAGE), "i", IMAGE)
        after = self.target.joined(self.at, {name: stored(source.source, len(server.log))})
        try:
            self.target.write_batch(
                lambda: iter([changes]), changes_schema(IMAGE), self.at, after, [source], are_all=True
            )
        except SourceError:  # another table of the lake has a key
            return
        self.at = after

    def rows(self):
        rows = HoodieTable.open(self.target.base_path, engine=LocalEngine(1)).read().to_pylist()
        return sorted((int(row["_source_table"][1:]), row["id"], row["v"]) for row in rows)


def stored(name, place):
    return StoredPosition(name, f"log:{place}", "server one, file of 1")


def groups(log, cuts, size):
    """Changes that are decoded together: of each table those of some transactions. The last table comes first."""
    begin = 0
    while begin < len(log):
        end = min([begin + size, len(log), *(cut for cut in cuts if cut > begin)])
        for shard in reversed(range(COUNT)):
            numbers = [number for number in range(begin, end) if log[number][0] == shard]
            if numbers:
                image = pa.struct(list(COLUMNS))
                table = pa.table(
                    {
                        "op": [log[number][1] for number in numbers],
                        "number": pa.array(numbers, pa.int64()),
                        "before": pa.array([log[number][2] for number in numbers], image),
                        "after": pa.array([log[number][3] for number in numbers], image),
                    }
                )
                position, last = (LogPosition("log", place) for place in (numbers[-1] + 1, end))
                yield Changes(position, 0, Columns("db", f"s{shard}", ()), table, last)
        begin = end


KINDS = ["move"] * 8 + ["update", "run", "run", "run", "read"]
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 2), st.integers(0, 1), st.integers(0, 30)), max_size=40
)
LAYOUTS = [{}, {"hoodie.table.type": "MERGE_ON_READ"}]


@settings(max_examples=examples(30), deadline=None)
@given(steps=STEPS, rows=st.integers(1, 4), layout=st.sampled_from(LAYOUTS))
def test_tables_at_different_places_end_with_the_row_of_the_table_that_got_it_last(
    tmp_path_factory, steps, rows, layout
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target_batch, "ROWS", rows)
        server, lake = Server(), Lake(str(tmp_path_factory.mktemp("lake")), layout)
        for kind, shard, key, other in steps:
            if kind == "read":
                lake.read_again(server, shard)
            elif kind == "run":
                going = [number for number in range(COUNT) if other >> number & 1]
                if going:
                    with suppress(PendingInstantError):
                        lake.run(server, going, len(server.log), 1 + key, commits=1 + other % 3)
            else:
                server.do(kind, shard, key, other)
        lake.run(server, range(COUNT), len(server.log), 2)
        found = lake.rows()
        assert {row for row in found if row[1] not in server.unsure} == server.expected()
        assert len({row[1] for row in found}) == len(found)


OLD, NEW = {"id": 1, "v": 1}, {"id": 1, "v": 2}


def row(key):
    return ("i", None, {"id": key, "v": 0})


def following(lake, *changes):
    """A server with these changes. The tables s1 and s2 have all of them, and s0 has none."""
    server = Server()
    for change in changes:
        server.add(*change)
    lake.run(server, [1, 2], len(changes), 1)
    return server


MOVE = ((0, "i", None, OLD), (2, *row(7)), (1, "i", None, NEW), (2, *row(8)), (0, "d", OLD, None))
"""A row comes to s0, and goes on to s1."""


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.setattr(target_batch, "ROWS", 1)
    return Lake(str(tmp_path / "lake"), {})


def test_a_table_that_is_behind_does_not_take_back_a_row_that_moved_on(lake):
    server = following(lake, *MOVE)
    server.add(1, "u", NEW, {**NEW, "v": 3})
    lake.run(server, [0, 1, 2], 5, 1)
    assert lake.rows()[0] == (1, 1, 2)
    lake.run(server, [0, 1, 2], 6, 1)
    assert lake.rows()[0] == (1, 1, 3)


def test_an_update_that_lets_a_row_in_brings_it_to_its_table(tmp_path, monkeypatch):
    monkeypatch.setattr(target_batch, "ROWS", 1)
    lake, hidden = Lake(str(tmp_path / "lake"), {}, "v > 0"), {"id": 1, "v": 0}
    server = following(lake, (1, "i", None, hidden), (0, "i", None, OLD), (1, "u", hidden, NEW), (2, *row(8)))
    server.add(0, "d", OLD, None)
    lake.run(server, [0, 1, 2], 5, 1)
    assert lake.rows() == [(1, 1, 2)]


def test_a_row_that_gets_another_key_comes_to_its_table(lake):
    """s0 had the key before, and deletes its row in a later commit."""
    other = {"id": 2, "v": 0}
    server = following(lake, (1, "i", None, other), (0, "i", None, OLD), (1, "u", other, NEW), (2, *row(8)))
    server.add(0, "d", OLD, None)
    lake.run(server, [0, 1, 2], 5, 1)
    assert lake.rows() == [(1, 1, 2), (2, 8, 0)]


def test_a_row_that_came_back_is_that_of_the_table_which_is_behind(lake):
    """The row was in s1 before, which deletes it after the place that it has."""
    server = following(lake, (1, "i", None, OLD), (0, "i", None, NEW))
    server.add(1, "d", OLD, None)
    lake.run(server, [0, 1, 2], 3, 1)
    assert lake.rows() == [(0, 1, 2)]


def test_a_table_that_is_ahead_and_parked_is_named_where_a_row_may_be_its_own(lake):
    server = following(lake, *MOVE)
    with pytest.raises(PendingInstantError, match=r"db.s1 is ahead of db.s0.*1 rows.*resume it together with db.s0"):
        lake.run(server, [0, 2], 4, 1)
    lake.run(server, [0, 2], 5, 1)  # s0 has no such row any more
    assert lake.rows()[0] == (1, 1, 2)


def test_changes_that_cannot_be_read_do_not_say_whose_a_row_is(lake):
    server = following(lake, *MOVE[:-1])
    with pytest.raises(PendingInstantError, match=r"db.s1 is ahead of db.s0"):
        lake.run(server, [0, 1, 2], 4, 1, damaged=1)
    lake.run(server, [0, 1, 2], 4, 1)
    assert lake.rows()[0] == (1, 1, 2)


def test_a_table_that_is_too_far_behind_is_to_be_read_again(lake):
    server = following(lake, MOVE[0], *((0, *row(number)) for number in range(100, 120)), *MOVE[1:])
    with pytest.raises(SourceError, match=r"more than 8 changes up to log:25.*--start-fresh"):
        lake.run(server, [0, 1, 2], 25, 1)
    assert lake.rows() == [(1, 1, 2), (2, 7, 0), (2, 8, 0)]


def test_a_place_in_another_log_is_not_compared(lake):
    """s1 is parked with a place in a log that was reset since: a row that comes from it is taken over."""
    server = following(lake, (1, "i", None, OLD))
    place = stored("shop/db.s1", 900)
    lake.at = lake.target.joined(lake.at, {"db.s1": place})
    lake.target.write_position(lake.target.stored_position(), lake.at)
    server.add(0, "i", None, NEW)
    lake.run(server, [0, 2], 2, 1)
    assert lake.rows() == [(0, 1, 2)]
