"""Several tables by one pass over the log."""

from __future__ import annotations

import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql import held_changes, log_reader, target_batch
from hudi_services.sources.cdc.mysql.binlog import event_spool, transaction_batch
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.log_reader import LogReader
from hudi_services.sources.cdc.mysql.table_load import TableLoad, route_of
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_batch import TargetCommits
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.binlog import DECLARED
from tests.support.tables import SMALL_BLOOM
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

pytestmark = pytest.mark.process
NAMES = ("a", "b", "c")


@pytest.fixture
def database(server, request):
    name = f"pass_{request.node.name[:40]}"
    server.run(f"CREATE DATABASE {name}")
    for table in NAMES:
        server.run(f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, v VARCHAR(20))")
        server.run(f"INSERT INTO {name}.{table} VALUES (1, '{table}')")
    return name


class Tables:
    """The tables of a database, loaded once, and passes over what follows."""

    def __init__(self, server, database, folder):
        self.environ = {"AIRFLOW_CONN_SHOP": server.url}
        self.log = LogPositions("shop", DECLARED, self.environ)
        self.parked = []
        self.targets = {
            (database, name): TargetTable(
                TableSource("shop", database, name), str(folder / name), SMALL_BLOOM, LocalEngine(1)
            )
            for name in NAMES
        }
        for target in self.targets.values():
            TableLoad(DECLARED, self.environ, target).run()

    def run(self):
        with connected("shop", DECLARED, self.environ) as control:
            routes = {}
            for name, target in self.targets.items():
                stored = target.stored_position()
                routes[name] = route_of(
                    control, self.log, TargetCommits(target, stored), target.table, stored.place, LoadResult()
                )
            start = min(route.since for route in routes.values())
            results = {name[1]: route.result for name, route in routes.items()}
            LogReader(self.log, routes, lambda route, error: self.parked.append((route.source.name, error))).run(
                control, start, end_of_log(control)
            )
        return results


def test_each_table_gets_its_changes_and_idle_ones_no_commit(server, database, tmp_path):
    tables = Tables(server, database, tmp_path)
    server.run(
        f"USE {database}",
        "BEGIN",
        "INSERT INTO a VALUES (2, 'x')",
        "INSERT INTO b VALUES (2, 'x')",
        "DELETE FROM a WHERE id = 1",
        "COMMIT",
        "UPDATE b SET v = 'y'",
    )
    results = tables.run()
    assert {name: (result.changes, result.commits) for name, result in results.items()} == {
        "a": (2, 1),
        "b": (3, 1),
        "c": (0, 0),
    }
    assert results["a"].position == results["b"].position  # all up to the end
    for name in NAMES:
        assert lake_rows(str(tmp_path / name)) == server_rows(server, database, name)
    assert all(result.commits == 0 for result in tables.run().values())


def test_a_table_that_fails_leaves_the_others_alone(server, database, tmp_path):
    tables = Tables(server, database, tmp_path)
    server.run(
        f"USE {database}",
        "INSERT INTO a VALUES (2, 'before')",
        "TRUNCATE a",
        "INSERT INTO a VALUES (3, 'after')",
        "INSERT INTO b VALUES (3, 'after')",
    )
    tables.run()
    [(name, error)] = tables.parked
    assert name == "a"
    assert isinstance(error, SourceError)
    assert [row[0] for row in lake_rows(str(tmp_path / "a"))] == [1, 2]
    assert lake_rows(str(tmp_path / "b")) == server_rows(server, database, "b")


def test_the_largest_table_is_committed_when_changes_of_all_fill_memory(server, database, tmp_path, monkeypatch):
    tables = Tables(server, database, tmp_path)
    monkeypatch.setattr(log_reader, "_BYTES", 500)
    monkeypatch.setattr(transaction_batch, "_BYTES", 500)
    server.run(
        f"USE {database}",
        *(f"INSERT INTO a VALUES ({key}, REPEAT('x', 20))" for key in range(2, 40)),
        "INSERT INTO b VALUES (2, 'y')",
    )
    results = tables.run()
    assert results["a"].commits > 1
    assert results["b"].commits == 1
    for name in NAMES:
        assert lake_rows(str(tmp_path / name)) == server_rows(server, database, name)


def test_changes_that_cannot_be_read_stop_their_table_before_their_transaction(server, database, tmp_path):
    tables = Tables(server, database, tmp_path)
    server.run(
        f"USE {database}",
        "UPDATE a SET v = 'first'",
        "SET SESSION binlog_row_image = 'MINIMAL'",
        "BEGIN",
        "INSERT INTO a VALUES (2, 'x')",
        "UPDATE a SET v = 'second' WHERE id = 1",
        "INSERT INTO b VALUES (2, 'x')",
        "COMMIT",
    )
    tables.run()
    [(name, error)] = tables.parked
    assert name == "a"
    assert "binlog_row_image=FULL" in error.found
    assert [row[1] for row in lake_rows(str(tmp_path / "a"))] == ["first"]
    assert lake_rows(str(tmp_path / "b")) == server_rows(server, database, "b")


def test_a_long_transaction_is_one_commit_of_each_table(server, database, tmp_path, monkeypatch):
    """Its events and its changes wait in files, and a piece that cannot be read takes the others along."""
    tables = Tables(server, database, tmp_path)
    for module, name, value in (
        (event_spool, "_MEMORY", 1_000),
        (transaction_batch, "_PIECE", 2_000),
        (transaction_batch, "_BYTES", 500),
        (held_changes, "_MEMORY", 3_000),
        (log_reader, "_BYTES", 1_000),
        (target_batch, "ROWS", 10),
    ):
        monkeypatch.setattr(module, name, value)
    long = [
        "BEGIN",
        "INSERT INTO a SELECT seq, 'x' FROM seq_10_to_900",
        "UPDATE a SET v = 'y' WHERE id % 3 = 0",
        "SAVEPOINT s",
        "DELETE FROM a WHERE id % 2 = 0",
        "ROLLBACK TO SAVEPOINT s",
        "INSERT INTO b SELECT id, v FROM a WHERE id > 500",
        "UPDATE a SET id = id + 10000 WHERE id % 5 = 0",
        "DELETE FROM a WHERE id % 7 = 0",
        "INSERT INTO a SELECT seq, 'again' FROM seq_10_to_900 WHERE seq % 5 = 0 AND seq % 2 = 0 ON DUPLICATE KEY UPDATE v = 'z'",
        "COMMIT",
    ]
    server.run(f"USE {database}", *long)
    results = tables.run()
    assert {name: result.commits for name, result in results.items()} == {"a": 1, "b": 1, "c": 0}
    assert results["a"].changes > 1_000
    for name in NAMES:
        assert lake_rows(str(tmp_path / name)) == server_rows(server, database, name)
    before = lake_rows(str(tmp_path / "a"))
    server.run(
        f"USE {database}",
        "BEGIN",
        "UPDATE a SET v = 'long'",
        "UPDATE b SET v = 'long'",
        "SET SESSION binlog_row_image = 'MINIMAL'",
        "UPDATE a SET v = 'short' WHERE id = 11",
        "COMMIT",
    )
    tables.run()
    assert [name for name, _ in tables.parked] == ["a"]
    assert lake_rows(str(tmp_path / "a")) == before
    assert lake_rows(str(tmp_path / "b")) == server_rows(server, database, "b")
