"""Random changes of a database of several tables, by sessions that their server may end at any moment."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import pymysql

from tests.support.mariadb import MariaDB

DATABASE = "shop"
REGIONS = ("nord", "Ost", "OST", "süd", "東")  # a server of this collation takes the second and the third for one
TABLES = (
    "CREATE TABLE left_accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
    "CREATE TABLE right_accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
    "CREATE TABLE orders (region VARCHAR(12) COLLATE utf8mb4_general_ci, id INT, v TEXT, n DECIMAL(12,3), at DATETIME(6),"
    " changed TIMESTAMP(3) NULL, b VARBINARY(20), f DOUBLE, PRIMARY KEY (region, id))",
    "CREATE TABLE items (id INT PRIMARY KEY, v VARCHAR(20), n INT)",
    *(f"CREATE TABLE shard_{number} (id INT PRIMARY KEY, v VARCHAR(20))" for number in (1, 2, 3)),
)
LATE = 4  # tables that come while all runs
_KEYS = 3_000
_PASSED = (
    *(1062, 1205, 1213),  # a key that is there, locks
    *(1050, 1054, 1060, 1091, 1136, 1146),  # the other thread changed the table in between
    *(0, 2003, 2006, 2013, 1053, 1927, 1180, 1158, 1159, 1160, 1161),  # the server or the session ended
)


@dataclass
class Session:
    """A session that is opened again whenever it ended."""

    server: MariaDB
    connection: Any = None

    def run(self, *statements: str) -> Sequence[Sequence[Any]]:
        """Run statements and return the rows of the last one. Raises errors of PyMySQL."""
        if self.connection is None:
            connection = self.server.connection(DATABASE)
            with connection.cursor() as cursor:
                cursor.execute("SET lock_wait_timeout = 1, innodb_lock_wait_timeout = 1")
            self.connection = connection
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return tuple(cursor.fetchall())

    def end(self) -> None:
        """Close it. The server takes back changes that were not committed."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection._force_close()


@dataclass
class Changes:
    """A thread that changes rows and tables until `stop` is set. `strange` gets errors that no kill explains."""

    session: Session
    draw: random.Random
    stop: Event
    strange: list[str]
    count: int = 0
    _names: int = field(default=0)

    def start(self) -> Thread:
        thread = Thread(target=self.run)
        thread.start()
        return thread

    def run(self) -> None:
        steps: list[Callable[[], None]] = [
            *([self.move_balance] * 40),
            *([self.change_orders] * 40),
            *([self.change_items] * 40),
            *([self.change_shards] * 40),
            *([self.define_others] * 3),
            self.define_items,  # its rows are read again
        ]
        while not self.stop.is_set():
            try:
                self.draw.choice(steps)()
                self.count += 1
            except (pymysql.err.MySQLError, OSError) as error:
                self.session.end()
                if isinstance(error, pymysql.err.MySQLError) and error.args[0] not in _PASSED:
                    self.strange.append(repr(error))
            time.sleep(self.draw.uniform(0, 0.1))
        self.session.end()

    def transact(self, *statements: str) -> None:
        self.session.run("BEGIN", *statements, self.draw.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]))

    def move_balance(self) -> None:
        """Move an amount from one table to the other. The sum of both stays 0 after each transaction."""
        draw = self.draw
        key, other, amount = draw.randrange(40), draw.randrange(40), draw.randrange(1, 100)
        source, target = draw.sample(["left_accounts", "right_accounts"], 2)
        add = "INSERT INTO {} VALUES ({}, {}) ON DUPLICATE KEY UPDATE balance = balance + VALUES(balance)"
        if draw.random() < 0.7:
            self.transact(add.format(source, key, -amount), add.format(target, other, amount))
            return
        found = self.session.run("BEGIN", f"SELECT balance FROM {source} WHERE id = {key} FOR UPDATE")
        moved = [f"DELETE FROM {source} WHERE id = {key}"] if found else []
        self.session.run(*moved, *(add.format(target, other, balance) for [balance] in found), "COMMIT")

    def change_orders(self) -> None:
        draw, key, region = self.draw, self.draw.randrange(_KEYS), self.draw.choice(REGIONS)
        some = f"region = '{region}' AND id BETWEEN {key} AND {key + draw.choice([0, 3, 200])}"
        values = f"'{region}', seq, CONCAT('é', seq), seq / 7, NOW(6), NOW(3), UNHEX(MD5(seq)), seq / 3"
        statements = [
            f"REPLACE INTO orders SELECT {values} FROM seq_{key}_to_{key + draw.choice([1, 20, 700])}",
            f"UPDATE orders SET n = {draw.randrange(10**6)}, v = NULL, changed = NULL WHERE {some}",
            f"UPDATE orders SET v = CONCAT(COALESCE(v, ''), '{chr(draw.randrange(0x3B1, 0x3C9))}') WHERE {some}",
            f"UPDATE IGNORE orders SET region = '{draw.choice(REGIONS)}' WHERE {some}",
            f"UPDATE IGNORE orders SET id = id + {draw.randrange(50)} WHERE {some}",
            f"DELETE FROM orders WHERE {some}",
        ]
        self.transact(*draw.choices(statements, k=draw.randint(1, 4)))

    def change_items(self) -> None:
        draw, key = self.draw, self.draw.randrange(40)
        columns = self._columns()
        statements = [
            f"REPLACE INTO items (id) VALUES ({key}), ({key + 1})",
            f"DELETE FROM items WHERE id BETWEEN {key} AND {key + 2}",
            f"UPDATE IGNORE items SET id = id + 7 WHERE id = {key}",
            *(f"UPDATE items SET {name} = {draw.randrange(9)} WHERE id > {key}" for name in columns),
        ]
        self.transact(*draw.choices(statements, k=3))

    def change_shards(self) -> None:
        draw, key = self.draw, self.draw.randrange(60)
        one, other = draw.sample(["shard_1", "shard_2", "shard_3"], 2)
        statements = [
            f"REPLACE INTO {one} (id, v) SELECT seq, 'r{draw.randrange(99)}' FROM seq_{key}_to_{key + 9}",
            f"INSERT IGNORE INTO {other} (id, v) SELECT id, v FROM {one} WHERE id < {key}",
            f"DELETE FROM {one} WHERE id % 5 = {key % 5}",
            f"UPDATE {other} SET v = CONCAT('u', id) WHERE id > {key}",
        ]
        self.transact(*draw.choices(statements, k=3))

    def define_items(self) -> None:
        draw, columns = self.draw, self._columns()
        self._names += 1
        new = f"c{draw.randrange(10**6)}"
        clauses = [f"ADD {new} INT", f"ADD {new} INT NOT NULL DEFAULT 5 FIRST", "FORCE"]
        if columns:
            name = draw.choice(columns)
            clauses += [f"DROP {name}", f"RENAME COLUMN {name} TO {new}"] + [f"MODIFY {name} BIGINT"] * (name != "v")
        if "v" in columns:
            clauses += [f"MODIFY v VARCHAR({draw.randrange(20, 200)}) AFTER id", "MODIFY v CHAR(30)"]
        swap = [
            "CREATE TABLE IF NOT EXISTS ghost LIKE items",
            "REPLACE INTO ghost SELECT * FROM items WHERE id % 3",
            "RENAME TABLE items TO old, ghost TO items",
        ]
        kind = draw.random()
        if kind < 0.2:
            self.session.run("TRUNCATE items")
        elif kind < 0.35:
            self.session.run("DROP TABLE IF EXISTS ghost, old")
            self.session.run(*swap)
        else:
            self.session.run(f"ALTER TABLE items {draw.choice(clauses)}")

    def define_others(self) -> None:
        draw = self.draw
        late = f"late_{draw.randrange(LATE)}"
        choices = [
            [f"TRUNCATE shard_{draw.randint(1, 3)}"],
            [f"ALTER TABLE shard_{draw.randint(1, 3)} ADD COLUMN IF NOT EXISTS w INT"],
            ["ALTER TABLE orders ADD INDEX IF NOT EXISTS by_time (at)"],
            ["FLUSH BINARY LOGS"],
            [
                f"CREATE TABLE IF NOT EXISTS {late} (id INT PRIMARY KEY, v VARCHAR(20))",
                f"REPLACE INTO {late} SELECT seq, '{draw.randrange(99)}' FROM seq_1_to_{draw.choice([3, 900])}",
            ],
        ]
        self.session.run(*draw.choice(choices))

    def _columns(self) -> list[str]:
        return [row[0] for row in self.session.run("SHOW COLUMNS FROM items") if row[0] != "id"]
