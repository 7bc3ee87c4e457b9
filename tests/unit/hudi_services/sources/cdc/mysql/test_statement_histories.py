"""Random transactions between random statements that define the table, while loads are killed: the lake equals the server."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace

import pymysql
import pytest

from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.storage import open_storage
from hudi_services.entry.source import StatementPolicies
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.mysql import snapshot_load
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.binlog import DECLARED
from tests.support.examples import seeds
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM
from tests.unit.hudi_services.sources.cdc.mysql.test_route import KINDS, Orders
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

pytestmark = [pytest.mark.process, pytest.mark.histories]
APPLY = {"truncate": "apply", "drop": "apply", "rename": "apply", "alter": "apply"}
CREATE = "CREATE TABLE orders (id INT PRIMARY KEY, v VARCHAR(20), n INT)"


class History:
    """A table of a server, and random statements that fit the columns that it has."""

    def __init__(self, orders, draw, also="DO 0"):
        self.orders, self.draw, self.also, self.added, self.exists = orders, draw, also, 0, True
        self.connection = orders.server.connection(orders.database)
        self.run("SET lock_wait_timeout = 0")  # a snapshot holds the definition while it is read

    def run(self, *statements):
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()

    def columns(self):
        return [row[0] for row in self.run("SHOW COLUMNS FROM orders") if row[0] != "id"]

    def step(self):
        """Change rows, or more rarely the table. A statement for which the server would have to wait is left out."""
        self.run(self.also)
        try:
            if not self.exists:
                self.run(CREATE)
                self.exists = True
            elif self.draw.random() < 0.7:
                self.change_rows()
            else:
                self.draw.choice([self.truncate, self.alter, self.alter, self.alter, self.swap, self.drop])()
        except pymysql.err.MySQLError as error:
            if error.args[0] not in (1062, 1205):  # a key that is there, a lock
                raise

    def change_rows(self):
        draw, key = self.draw, self.draw.randrange(15)
        statements = [
            f"INSERT INTO orders (id) VALUES ({key}) ON DUPLICATE KEY UPDATE id = {key + 20}",
            f"REPLACE INTO orders (id) VALUES ({key}), ({key + 1})",
            f"DELETE FROM orders WHERE id BETWEEN {key} AND {key + 2}",
            f"UPDATE IGNORE orders SET id = id + 7 WHERE id = {key}",
            *(f"UPDATE orders SET {name} = {draw.randrange(9)} WHERE id > {key}" for name in self.columns()),
        ]
        self.run("BEGIN", *draw.choices(statements, k=3), draw.choice(["COMMIT", "COMMIT", "ROLLBACK"]))

    def truncate(self):
        self.run("TRUNCATE orders")

    def alter(self):
        self.added += 1
        columns = self.columns()
        clauses = [f"ADD c{self.added} INT", f"ADD c{self.added} INT NOT NULL DEFAULT {self.added} FIRST"]
        if columns:
            name = self.draw.choice(columns)
            clauses += [f"DROP {name}", f"RENAME COLUMN {name} TO c{self.added}", f"ADD INDEX ({name})"]
            clauses += [f"MODIFY {name} BIGINT"] * (name != "v")
        if "v" in columns:
            clauses += ["MODIFY v VARCHAR(50) AFTER id", "MODIFY v CHAR(30) CHARACTER SET latin1"]
        self.run(f"ALTER TABLE orders {self.draw.choice(clauses)}")

    def swap(self):
        self.added += 1
        self.run("CREATE TABLE ghost LIKE orders")
        try:
            self.run(
                f"ALTER TABLE ghost ADD c{self.added} INT DEFAULT 1",
                f"INSERT INTO ghost SELECT *, 2 FROM orders WHERE id < {self.draw.randrange(30)}",
                "RENAME TABLE orders TO old, ghost TO orders",
            )
        finally:
            self.run("DROP TABLE IF EXISTS old, ghost")

    def drop(self):
        self.run("DROP TABLE orders")
        self.exists = False


class Meddling(FaultyStorage):
    """A storage during whose calls the history goes on now and then, and that dies at one of them."""

    def __init__(self, base_path, history, fail_at):
        super().__init__(base_path, fail_at)
        self._history, self._next = history, history.draw.randrange(40)

    def _step(self, name, path):
        if self.calls >= self._next:
            self._next += self._history.draw.randrange(1, 60)
            self._history.step()
        return super()._step(name, path)


@pytest.mark.parametrize("seed", seeds(6))
def test_the_lake_equals_the_server_at_each_stop(server, tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    options = {"hoodie.table.type": KINDS[seed % 2]}
    orders = Orders(server, f"history_{seed}", tmp_path)
    if draw.random() < 0.5:
        monkeypatch.setattr(snapshot_load, "GROUP_ROWS", 4)
        monkeypatch.setattr(snapshot_load, "CHUNK_ROWS", 2)
    orders.run("DROP TABLE orders", CREATE)
    history = History(orders, draw)
    orders.load(options=options, **APPLY)
    for _ in range(4):
        for _ in range(draw.randrange(3)):
            for _ in range(draw.randrange(8)):
                history.step()
            with suppress(Killed, HoodieError):
                orders.load(Meddling(orders.target, history, draw.randrange(1, 300)), **APPLY)
        orders.load(**APPLY)
        if history.exists:
            orders.assert_equal()
        else:
            assert lake_rows(orders.target) == []
    history.connection.close()


class PlainCuts(CutStore):
    """Cuts with a name in place of a storage that dies."""

    def put(self, cut):
        super().put(replace(cut, tables={name: replace(place, base_path="") for name, place in cut.tables.items()}))


@pytest.mark.parametrize("seed", seeds(3))
def test_all_tables_of_a_sync_equal_the_server_at_each_cut(server, tmp_path, seed):
    draw = random.Random(seed)
    orders = Orders(server, f"synced_{seed}", tmp_path)
    orders.run("DROP TABLE orders", CREATE, "CREATE TABLE other (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
    history = History(orders, draw, also=f"INSERT INTO other (v) VALUES ({seed})")
    cuts, other = PlainCuts(open_storage(str(tmp_path / "state")), "shop"), str(tmp_path / "other")
    options = {**SMALL_BLOOM, "hoodie.table.type": KINDS[seed % 2]}

    def sync(storage=None):
        targets = [
            TargetTable(
                TableSource("shop", orders.database, name, statements=StatementPolicies(**APPLY)),
                path,
                options,
                LocalEngine(1),
            )
            for name, path in (("orders", storage or orders.target), ("other", other))
        ]
        sync = ServerSync("shop", DECLARED, {"AIRFLOW_CONN_SHOP": server.url}, targets, cuts, SystemClock())
        return sync.run(resume=[target.source.full_name for target in targets])

    sync()
    for _ in range(4):
        for _ in range(draw.randrange(8)):
            history.step()
        with suppress(Killed, HoodieError):
            sync(Meddling(orders.target, history, draw.randrange(1, 300)))
        states = [table.state for table in sync().tables.values()]
        assert states == ["current" if history.exists else "dropped", "current"]
        assert lake_rows(other) == server_rows(server, orders.database, "other")
        if history.exists:
            orders.assert_equal()
        else:
            assert lake_rows(orders.target) == []
    history.connection.close()
