"""All tables of a server: each run ends at a cut, a table that fails leaves the others alone."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError, PendingInstantError, SourceError
from hoodie.services.rollback.service import Rollback
from hoodie.storage import open_storage
from hudi_services.entry.source import StatementPolicies
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.mysql import server_sync, snapshot_load, target_batch
from hudi_services.sources.cdc.mysql.binlog import transaction_batch
from hudi_services.sources.cdc.mysql.log_reader import LogReader
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.mysql.snapshot_load import SnapshotLoad
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.binlog import DECLARED
from tests.support.tables import SMALL_BLOOM
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

pytestmark = pytest.mark.process
NAMES = ("a", "b", "c")


class Shop:
    """A database of three tables, and runs that bring them to the lake."""

    def __init__(self, server, database, folder):
        self.server, self.database, self.folder = server, database, folder
        self.environ = {"AIRFLOW_CONN_SHOP": server.url}
        self.statements = StatementPolicies()
        self.cuts = CutStore(open_storage(str(folder / "state")), "shop")

    def target(self, table):
        source = TableSource("shop", self.database, table, statements=self.statements)
        return TargetTable(source, str(self.folder / table), SMALL_BLOOM, LocalEngine(1))

    def sync(self, *tables, resume=()):
        targets = [self.target(table) for table in tables or NAMES]
        sync = ServerSync("shop", DECLARED, self.environ, targets, self.cuts, SystemClock())
        result = sync.run(resume=[f"{self.database}.{table}" for table in resume])
        return {name.rpartition(".")[2]: table for name, table in result.tables.items()}

    def commits(self, result):
        return {name: table.load.commits for name, table in result.items()}

    def run(self, *statements):
        self.server.run(f"USE {self.database}", *statements)

    def assert_equal(self, *tables):
        for table in tables or NAMES:
            rows = server_rows(self.server, self.database, table)
            assert lake_rows(str(self.folder / table)) == rows, table


@pytest.fixture
def shop(server, request, tmp_path):
    database = f"sync_{request.node.name[:40]}"
    server.run(f"CREATE DATABASE {database}")
    shop = Shop(server, database, tmp_path)
    for table in NAMES:
        shop.run(f"CREATE TABLE {table} (id INT PRIMARY KEY, v VARCHAR(20))", f"INSERT INTO {table} VALUES (1, 'x')")
    return shop


def test_new_tables_are_loaded_and_changes_follow(shop):
    before = datetime.now(UTC)
    assert shop.commits(shop.sync()) == {"a": 1, "b": 1, "c": 1}
    shop.run("UPDATE a SET v = 'y'", "BEGIN", "DELETE FROM a", "INSERT INTO b VALUES (2, 'z')", "COMMIT")
    assert shop.commits(shop.sync()) == {"a": 1, "b": 1, "c": 0}
    shop.assert_equal()
    cut = shop.cuts.latest()
    assert cut.number == 2
    assert not cut.behind
    assert before <= datetime.fromisoformat(cut.time) <= datetime.now(UTC)
    assert cut.tables[f"{shop.database}.c"].base_path == str(shop.folder / "c")
    assert shop.commits(shop.sync()) == {"a": 0, "b": 0, "c": 0}


def test_a_table_that_joins_later_gets_its_rows(shop):
    shop.sync("a")
    shop.run("INSERT INTO b VALUES (2, 'z')")
    assert shop.commits(shop.sync()) == {"a": 0, "b": 1, "c": 1}
    shop.assert_equal()


def test_a_parked_table_waits_and_is_resumed_without_loss(shop):
    shop.sync()
    shop.run("INSERT INTO a VALUES (2, 'before')", "TRUNCATE a", "INSERT INTO b VALUES (2, 'z')")
    result = shop.sync()
    assert result["a"].state == "parked"
    assert "TRUNCATE" in result["a"].reason
    assert "--start-fresh" in result["a"].fix
    assert result["b"].state == "current"
    shop.run("INSERT INTO a VALUES (3, 'after')", "INSERT INTO b VALUES (3, 'z')")
    assert shop.sync()["a"].reason == result["a"].reason
    shop.assert_equal("b", "c")
    assert [row[0] for row in lake_rows(str(shop.folder / "a"))] == [1, 2]
    assert shop.sync(resume=["a"])["a"].state == "parked"  # the statement is still the next one
    TableLoad(DECLARED, shop.environ, shop.target("a")).run(start_fresh=True)
    assert shop.sync()["a"].state == "current"
    shop.assert_equal()


def test_a_table_that_cannot_be_read_is_parked_at_its_snapshot(shop):
    shop.run("CREATE TABLE d (v INT)", "INSERT INTO d VALUES (1)")
    result = shop.sync("a", "d", "nowhere")
    assert {name: table.state for name, table in result.items()} == {"a": "current", "d": "parked", "nowhere": "parked"}
    assert "has no key" in result["d"].reason
    assert "no table" in result["nowhere"].reason
    shop.run("ALTER TABLE d ADD PRIMARY KEY (v)")
    assert shop.sync("a", "d")["d"].state == "parked"
    assert shop.sync("a", "d", resume=["d"])["d"].state == "current"
    shop.assert_equal("a", "d")


def test_tables_that_are_idle_read_on_from_the_cut_after_older_logs_are_gone(shop):
    shop.sync()
    shop.run("INSERT INTO a VALUES (2, 'y')", "FLUSH BINARY LOGS", "INSERT INTO a VALUES (3, 'y')")
    shop.sync()
    end = shop.cuts.latest().position.partition(":")[0]
    shop.run(f"PURGE BINARY LOGS TO '{end}'", "INSERT INTO b VALUES (9, 'late')")
    assert shop.commits(shop.sync()) == {"a": 0, "b": 1, "c": 0}
    shop.assert_equal()


def test_a_table_that_is_refused_for_a_while_keeps_its_place_in_the_log(shop):
    """The cut knows that it had no changes. The log before is gone, so its own position would not do."""
    shop.sync()
    shop.run("INSERT INTO a VALUES (2, 'y')", "FLUSH BINARY LOGS", "INSERT INTO a VALUES (3, 'y')")
    shop.sync()
    end = shop.cuts.latest().position.partition(":")[0]
    shop.run("RENAME TABLE b TO hidden")
    assert shop.sync()["b"].state == "parked"
    shop.run("RENAME TABLE hidden TO b", f"PURGE BINARY LOGS TO '{end}'")
    assert shop.sync()["b"].state == "parked"
    behind = shop.cuts.latest().behind[f"{shop.database}.b"]
    assert behind.position.startswith(end)
    assert behind.stored.startswith("bin")


def test_a_table_that_was_taken_back_reads_from_its_own_position(shop):
    shop.sync()
    shop.run("INSERT INTO a VALUES (2, 'y')")
    shop.sync()
    table = HoodieTable.open(str(shop.folder / "a"))
    table.run(Rollback(table.timeline.commits[-1].time))
    assert len(lake_rows(str(shop.folder / "a"))) == 1
    assert shop.commits(shop.sync())["a"] == 1
    shop.assert_equal()


def test_tables_that_are_read_again_take_the_others_to_a_later_cut(shop, monkeypatch):
    shop.sync()
    shop.statements = StatementPolicies(truncate="apply", alter="apply", drop="apply")
    shop.run(
        "INSERT INTO a VALUES (2, 'y')",
        "ALTER TABLE a MODIFY v CHAR(10) NOT NULL DEFAULT 'x'",
        "INSERT INTO b VALUES (2, 'z')",
        "TRUNCATE b",
        "DROP TABLE c",
    )

    class Meanwhile(SnapshotLoad):
        def run(self, *given, **named):
            shop.run("INSERT INTO a VALUES (5, 'late')", "INSERT INTO b VALUES (5, 'late')")
            return super().run(*given, **named)

    monkeypatch.setattr(server_sync, "SnapshotLoad", Meanwhile)
    result = shop.sync()
    monkeypatch.undo()
    assert shop.commits(result) == {"a": 2, "b": 3, "c": 1}
    assert {name: table.state for name, table in result.items()} == {"a": "current", "b": "current", "c": "dropped"}
    shop.assert_equal("a", "b")
    assert lake_rows(str(shop.folder / "c")) == []
    assert shop.commits(shop.sync()) == {"a": 0, "b": 0, "c": 0}
    shop.run("CREATE TABLE c (id INT PRIMARY KEY)", "RENAME TABLE a TO _a_old")
    result = shop.sync()
    assert {name: table.state for name, table in result.items()} == {"a": "parked", "b": "current", "c": "current"}
    shop.statements = StatementPolicies(rename="apply")
    assert shop.sync(resume=["a"])["a"].state == "failed"  # it waits for a table of this name
    shop.run("RENAME TABLE _a_old TO a", "INSERT INTO a VALUES (6, 'z')")
    assert shop.sync()["a"].state == "current"
    shop.assert_equal("a", "b")


def test_two_processes_do_not_follow_one_server(shop):
    shop.sync()
    second = ServerSync("shop", DECLARED, shop.environ, [shop.target("a")], shop.cuts, SystemClock())

    class Slow(CutStore):
        def put(self, cut):
            second.run()
            super().put(cut)

    first = ServerSync(
        "shop", DECLARED, shop.environ, [shop.target("a")], Slow(shop.cuts.storage, "shop"), SystemClock()
    )
    with pytest.raises(PendingInstantError, match="Another process follows the server shop"):
        first.run()


def test_a_table_that_another_load_took_past_the_cut_is_not_in_it(shop):
    shop.sync()

    class Slow(LogReader):
        def run(self, control, start, end):
            super().run(control, start, end)
            shop.run("INSERT INTO a VALUES (7, 'late')")
            TableLoad(DECLARED, shop.environ, shop.target("a")).run()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_sync, "LogReader", Slow)
        result = shop.sync()
    assert (result["a"].state, result["b"].state) == ("failed", "current")
    assert set(shop.cuts.latest().tables) == {f"{shop.database}.b", f"{shop.database}.c"}
    assert shop.sync()["a"].state == "current"
    shop.assert_equal()


def test_random_transactions_over_all_tables(shop):
    draw = random.Random(4)
    for _ in range(4):
        for _ in range(draw.randrange(8)):
            statements = [
                f"INSERT INTO {draw.choice(NAMES)} VALUES ({draw.randrange(20)}, 'i') ON DUPLICATE KEY UPDATE v = 'u'",
                f"UPDATE {draw.choice(NAMES)} SET v = CONCAT(v, 'w') WHERE id > {draw.randrange(20)} AND CHAR_LENGTH(v) < 9",
                f"DELETE FROM {draw.choice(NAMES)} WHERE id = {draw.randrange(20)}",
                f"UPDATE IGNORE {draw.choice(NAMES)} SET id = id + 3 WHERE id = {draw.randrange(20)}",
            ]
            shop.run("BEGIN", *draw.choices(statements, k=3), draw.choice(["COMMIT", "ROLLBACK"]))
        shop.sync()
        shop.assert_equal()


def test_a_snapshot_in_chunks_that_was_killed_goes_on_in_the_next_run(shop, monkeypatch):
    for name, value in {"GROUP_ROWS": 4, "CHUNK_ROWS": 2}.items():
        monkeypatch.setattr(snapshot_load, name, value)
    monkeypatch.setattr(server_sync, "SESSIONS", 1)  # it reads chunks in their order
    shop.run(*(f"INSERT INTO a VALUES ({key}, 'a')" for key in range(100, 120)))
    read, reads = snapshot_load.read_chunk, []

    def killed(connection, source, chunk):
        reads.append(chunk)
        if len(reads) == 7:
            raise SourceError("The server went away")
        return read(connection, source, chunk)

    monkeypatch.setattr(snapshot_load, "read_chunk", killed)
    assert shop.sync()["a"].state == "parked"
    begun = shop.target("a").stored_position()
    assert begun.is_loading
    shop.run("UPDATE a SET id = id + 100 WHERE id IN (101, 118)")
    result = shop.sync(resume=["a"])["a"]
    assert (result.state, result.load.rows) == ("current", 21 - begun.snapshot.rows - 1)  # one went past the last key
    assert shop.target("a").stored_position().snapshot is None
    shop.assert_equal()


def test_a_connection_that_ends_between_two_questions_costs_a_run_and_no_rows(shop, monkeypatch):
    """`--follow` tries again after such an error, and after no other one."""

    def killed(asks):
        def asks_after_the_end(control, *given):
            shop.server.run(f"KILL {control.thread_id()}")
            return asks(control, *given)

        return asks_after_the_end

    shop.sync("a")
    for number, step in enumerate(["server_facts", "server_time", "locate"]):
        shop.run(f"INSERT INTO a VALUES (1{number}, 'y')")
        monkeypatch.setattr(server_sync, step, killed(getattr(server_sync, step)))
        with suppress(HoodieError):
            shop.sync("a")
        monkeypatch.undo()
        assert shop.sync("a")["a"].state == "current", step
    shop.assert_equal("a")


def test_a_table_whose_commit_fails_once_commits_nothing_more_in_this_run(shop, monkeypatch):
    """Its changes would be there under the position before them."""
    shop.sync()
    shop.run(*(f"INSERT INTO {name} VALUES ({key}, 'y')" for key in (2, 3) for name in NAMES))
    original, failed = TargetTable.write_batch, []

    def write_batch(self, *given, **named):
        if self.name == "a" and not failed:
            failed.append(self)
            raise PendingInstantError("another process writes")
        return original(self, *given, **named)

    monkeypatch.setattr(target_batch, "ROWS", 1)
    monkeypatch.setattr(transaction_batch, "_BYTES", 1)
    monkeypatch.setattr(TargetTable, "write_batch", write_batch)
    result = shop.sync()
    assert {name: table.state for name, table in result.items()} == {"a": "failed", "b": "current", "c": "current"}
    assert lake_rows(str(shop.folder / "a")) == [(1, "x")]
    assert shop.sync()["a"].state == "current"
    shop.assert_equal()
