"""Statements that change rows without logging them, by the policy of their kind: each policy by its effect."""

from __future__ import annotations

import random
import shutil

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, SourceError, SourceUnavailableError
from hudi_services.entry.source import StatementPolicies
from hudi_services.sources.cdc.mysql import snapshot_load
from hudi_services.sources.cdc.mysql.chunks import chunked_table
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.binlog import DECLARED
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows

pytestmark = pytest.mark.process
KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")


class Orders:
    """The table `orders` of a database and its Hudi table, which a load brings up to date."""

    def __init__(self, server, database, folder):
        self.server, self.database, self.target = server, database, str(folder / "lake")
        server.run(f"CREATE DATABASE {database}")
        self.run(
            "CREATE TABLE orders (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO orders VALUES (1, 'a'), (2, 'b')"
        )

    def run(self, *statements):
        self.server.run(f"USE {self.database}", *statements)

    def load(self, storage=None, *, options=None, start_fresh=False, **policies):
        source = TableSource("shop", self.database, "orders", statements=StatementPolicies(**policies))
        target = TargetTable(source, storage or self.target, {**SMALL_BLOOM, **(options or {})}, LocalEngine(1))
        environ = {"AIRFLOW_CONN_SHOP": self.server.url}
        return TableLoad(DECLARED, environ, target).run(start_fresh=start_fresh)

    def ids(self):
        return [row[0] for row in lake_rows(self.target)]

    def assert_equal(self):
        """Compare by the columns that the server has: the lake keeps dropped ones, and gets new ones with rows."""
        connection = self.server.connection(self.database)
        with connection.cursor() as cursor:
            cursor.execute("SELECT * FROM orders")
            names = [column[0] for column in cursor.description]
            expected = sorted(cursor.fetchall(), key=str)
        connection.close()
        rows = HoodieTable.open(self.target, engine=LocalEngine(1)).read().to_pylist()
        assert sorted((tuple(row.get(name) for name in names) for row in rows), key=str) == expected


@pytest.fixture
def orders(server, request, tmp_path):
    return Orders(server, f"route_{random.Random(request.node.name).randrange(10**9)}", tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_truncate_takes_out_rows_before_it_and_keeps_those_after_it(orders, kind):
    orders.load(options={"hoodie.table.type": kind})
    orders.run(
        "INSERT INTO orders VALUES (3, 'c')",
        "TRUNCATE orders",
        "INSERT INTO orders VALUES (2, 'again'), (4, 'd')",
        "UPDATE orders SET v = 'e' WHERE id = 4",
    )
    result = orders.load(truncate="apply")
    assert (result.rows, result.changes, result.commits) == (0, 4, 3)
    orders.assert_equal()
    actions = [instant.action.value for instant in HoodieTable.open(orders.target).timeline.commits]
    assert actions.count("replacecommit") == 1
    orders.run("TRUNCATE orders")
    position = orders.load(truncate="apply").position
    assert lake_rows(orders.target) == []
    assert position
    assert orders.load(truncate="stop").commits == 0  # the position after it is in the commit
    orders.run("INSERT INTO orders VALUES (5, 'f')", "TRUNCATE orders", "INSERT INTO orders VALUES (6, 'g')")
    orders.load(truncate="ignore")
    assert orders.ids() == [5, 6]


@pytest.mark.parametrize("text", ["DROP TABLE orders", "DROP DATABASE {0}"])
def test_a_table_that_is_dropped_stops_or_is_emptied_or_keeps_its_rows(orders, text):
    orders.load()
    again = "CREATE TABLE orders (v VARCHAR(20), id INT PRIMARY KEY, w INT)"
    orders.run("INSERT INTO orders VALUES (3, 'c')", text.format(orders.database))
    with pytest.raises(SourceError, match="has no table"):
        orders.load()
    orders.load(drop="ignore")
    assert orders.ids() == [1, 2, 3]
    position = orders.load(drop="apply").position
    assert orders.ids() == []
    assert orders.load(drop="apply").commits == 0
    orders.server.run(f"CREATE DATABASE IF NOT EXISTS {orders.database}")
    orders.run(again, "INSERT INTO orders VALUES ('x', 3, 7)")
    assert orders.load().position > position
    orders.assert_equal()
    orders.run(
        "CREATE OR REPLACE TABLE orders (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO orders VALUES (4, 'd')"
    )
    with pytest.raises(SourceError, match="--on-drop"):
        orders.load()
    orders.load(drop="ignore")
    assert orders.ids() == [3, 4]
    orders.run(
        "CREATE OR REPLACE TABLE orders (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO orders VALUES (8, 'd')"
    )
    orders.load(drop="apply")
    orders.assert_equal()
    orders.run("CREATE OR REPLACE TABLE orders (id INT, v VARCHAR(20))", "INSERT INTO orders VALUES (8, 'd'), (8, 'e')")
    for policy in ("ignore", "apply"):
        with pytest.raises(ConfigError, match="may share a record key"):
            orders.load(drop=policy)


def test_columns_that_the_server_fills_are_read_again(orders):
    orders.load()
    orders.run("INSERT INTO orders VALUES (3, 'c')", "ALTER TABLE orders ADD n INT NOT NULL DEFAULT 7")
    with pytest.raises(SourceError, match="--on-alter"):
        orders.load()
    orders.run("INSERT INTO orders VALUES (4, 'd', 8)")
    result = orders.load(alter="apply")
    assert result.rows == 4
    orders.assert_equal()
    orders.run("DELETE FROM orders", "ALTER TABLE orders ADD m INT DEFAULT 1")
    orders.load(alter="apply")
    assert lake_rows(orders.target) == []


def test_rows_on_their_way_keep_their_values_when_a_column_is_renamed(orders):
    """Values are compared: a load that looks for the new name in older rows has as many rows, with nulls."""
    orders.load()
    orders.run(
        "UPDATE orders SET v = 'in flight' WHERE id = 1",
        "ALTER TABLE orders RENAME COLUMN v TO w, ADD n INT FIRST",
        "UPDATE orders SET w = 'after' WHERE id = 2",
        "INSERT INTO orders VALUES (5, 3, 'c')",
    )
    with pytest.raises(SourceError, match="--on-alter"):
        orders.load()
    assert lake_rows(orders.target) == [(1, "in flight"), (2, "b")]
    orders.load(alter="apply")
    orders.assert_equal()


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_get_more_digits_without_reading_rows_again(orders, kind):
    orders.run(
        "ALTER TABLE orders ADD t TINYINT UNSIGNED, ADD u INT UNSIGNED, ADD y YEAR, ADD l BIGINT",
        "UPDATE orders SET t = 255, u = 4294967295, y = 2026, l = -9223372036854775808 WHERE id = 1",
    )
    orders.load(options={"hoodie.table.type": kind})
    orders.run(
        "UPDATE orders SET t = 7 WHERE id = 2",
        "ALTER TABLE orders MODIFY t INT DEFAULT 9, MODIFY u BIGINT FIRST, CHANGE y y BIGINT, MODIFY id BIGINT, MODIFY l BIGINT",
        "INSERT INTO orders (id, t, u, y, l) VALUES (5000000000, -2147483648, -1, 9223372036854775807, 1)",
        "UPDATE orders SET y = NULL, v = 'x' WHERE id = 1",
    )
    assert orders.load().rows == 0
    orders.assert_equal()


def test_a_table_that_is_renamed_away_waits_for_the_next_one(orders):
    orders.load()
    orders.run(
        "INSERT INTO orders VALUES (3, 'c')", "CREATE TABLE other LIKE orders", "INSERT INTO other VALUES (9, 'x')"
    )
    orders.run("RENAME TABLE orders TO orders_old")
    with pytest.raises(SourceUnavailableError, match="no such table now"):
        orders.load(rename="apply")
    assert orders.ids() == [1, 2, 3]
    orders.load(rename="apply", drop="apply")
    assert orders.ids() == []
    orders.run("ALTER TABLE other RENAME orders", "INSERT INTO orders_old VALUES (4, 'old')", "DELETE FROM orders_old")
    orders.load(rename="apply")
    orders.assert_equal()
    orders.run("INSERT INTO orders VALUES (10, 'y')")
    assert orders.load().changes == 1
    orders.assert_equal()


def test_a_definition_that_changes_before_rows_are_read_can_be_tried_again(orders, monkeypatch):
    for text, words in (
        ("ALTER TABLE orders FORCE", "could not be read"),
        ("RENAME TABLE orders TO t", "was dropped|doesn't exist"),
    ):

        def altered(*given, text=text):
            orders.run(text)
            return chunked_table(*given)

        monkeypatch.setattr(snapshot_load, "chunked_table", altered)
        with pytest.raises(SourceUnavailableError, match=words):
            orders.load()
    monkeypatch.undo()
    orders.run("RENAME TABLE t TO orders")
    orders.load()
    orders.assert_equal()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_killed_at_a_statement_goes_on_where_it_was(orders, tmp_path, kind):
    orders.load(options={"hoodie.table.type": kind})
    shutil.move(orders.target, tmp_path / "loaded")
    orders.run(
        "INSERT INTO orders VALUES (3, 'c')",
        "TRUNCATE orders",
        "INSERT INTO orders VALUES (2, 'again'), (4, 'd')",
        "ALTER TABLE orders ADD n INT DEFAULT 7",
        "DELETE FROM orders WHERE id = 4",
    )
    killed = 0
    for fail_at in range(1, 600, 41):
        shutil.rmtree(orders.target, ignore_errors=True)
        shutil.copytree(tmp_path / "loaded", orders.target)
        try:
            orders.load(FaultyStorage(orders.target, fail_at, "kill", False), truncate="apply", alter="apply")
        except Killed:
            killed += 1
            orders.load(truncate="apply", alter="apply")
            orders.assert_equal()
        else:
            break
    assert killed > 3


def gh_ost(number):
    """The statements of gh-ost: rows are copied and changes replayed, then one RENAME swaps both tables."""
    return [
        "CREATE TABLE _orders_ghc (id BIGINT AUTO_INCREMENT PRIMARY KEY, hint VARCHAR(64), value VARCHAR(4096))",
        "CREATE TABLE _orders_gho LIKE orders",
        f"ALTER TABLE _orders_gho ADD COLUMN n{number} INT NOT NULL DEFAULT 7",
        f"ALTER TABLE _orders_gho MODIFY v VARCHAR({30 + number})",
        "INSERT IGNORE INTO _orders_gho (id, v) SELECT id, v FROM orders FORCE INDEX (PRIMARY) LOCK IN SHARE MODE",
        "UPDATE orders SET v = 'meanwhile' WHERE id = 2",
        "REPLACE INTO _orders_gho (id, v) VALUES (2, 'meanwhile')",
        "DELETE FROM orders WHERE id = 1",
        "DELETE FROM _orders_gho WHERE id = 1",
        "CREATE TABLE _orders_del (id INT PRIMARY KEY) COMMENT = 'ghost-cut-over-sentry'",
        "DROP TABLE _orders_del",
        "RENAME TABLE orders TO _orders_del, _orders_gho TO orders",
        "DROP TABLE _orders_ghc",
        "DROP TABLE _orders_del",
    ]


def pt_osc(number):
    """The statements of pt-online-schema-change: triggers copy the changes."""
    return [
        "CREATE TABLE _orders_new LIKE orders",
        f"ALTER TABLE _orders_new ADD COLUMN n{number} INT DEFAULT 7, MODIFY v VARCHAR({30 + number})",
        "CREATE TRIGGER pt_osc_del AFTER DELETE ON orders FOR EACH ROW DELETE IGNORE FROM _orders_new WHERE id <=> OLD.id",
        "CREATE TRIGGER pt_osc_upd AFTER UPDATE ON orders FOR EACH ROW BEGIN "
        "DELETE IGNORE FROM _orders_new WHERE NOT (OLD.id <=> NEW.id) AND id <=> OLD.id; "
        "REPLACE INTO _orders_new (id, v) VALUES (NEW.id, NEW.v); END",
        "CREATE TRIGGER pt_osc_ins AFTER INSERT ON orders FOR EACH ROW REPLACE INTO _orders_new (id, v) VALUES (NEW.id, NEW.v)",
        "INSERT LOW_PRIORITY IGNORE INTO _orders_new (id, v) SELECT id, v FROM orders LOCK IN SHARE MODE",
        f"UPDATE orders SET id = id + {100 * number} WHERE id = 2",
        f"INSERT INTO orders (id, v) VALUES ({500 + number}, 'by trigger')",
        "ANALYZE TABLE _orders_new",
        "RENAME TABLE orders TO _orders_old, _orders_new TO orders",
        "DROP TABLE IF EXISTS _orders_old",
        *(f"DROP TRIGGER IF EXISTS pt_osc_{name}" for name in ("del", "upd", "ins")),
    ]


@pytest.mark.parametrize(
    "steps",
    [
        gh_ost,
        pt_osc,
        lambda number: [
            "CREATE TABLE next LIKE orders",
            "INSERT INTO next SELECT * FROM orders WHERE id = 2",
            "RENAME TABLE orders TO spare, next TO orders, spare TO next",
            "DROP TABLE next",
        ],
    ],
    ids=["gh-ost", "pt-osc", "rotation"],
)
def test_a_table_that_is_swapped_is_read_again_and_ghosts_are_not(orders, steps):
    orders.load()
    begin, swap = steps(1), steps(2)
    cut = next(place for place, text in enumerate(begin) if text.startswith("RENAME"))
    orders.run(*begin[:cut])
    assert orders.load().rows == 0  # ghosts are other tables
    orders.assert_equal()
    orders.run(begin[cut])
    with pytest.raises(SourceError, match="--on-rename"):
        orders.load()
    orders.run(*begin[cut + 1 :], "INSERT INTO orders (id, v) VALUES (300, 'after')")
    result = orders.load(rename="apply")
    assert result.rows
    assert not result.changes  # rows that are read again have all changes of their time
    orders.assert_equal()
    orders.run("INSERT INTO orders (id, v) VALUES (2, 'again') ON DUPLICATE KEY UPDATE v = 'again'", *swap)
    orders.load(rename="apply")
    orders.assert_equal()
    orders.run("DELETE FROM orders WHERE id = 2")
    assert orders.load().rows == 0
    orders.assert_equal()


@pytest.mark.parametrize("kind", KINDS)
def test_types_that_have_all_values_of_those_before_cost_no_snapshot(orders, kind):
    orders.run(
        "ALTER TABLE orders ADD e ENUM('a', 'y') NOT NULL, ADD d DECIMAL(6, 2), ADD c CHAR(4) NOT NULL,"
        " ADD x TEXT, ADD i INT NOT NULL"
    )
    orders.load(options={"hoodie.table.type": kind})
    orders.run(
        "INSERT INTO orders VALUES (3, 'c  ', 'a', 9999.99, 'x', 'y', 1)",
        "ALTER TABLE orders MODIFY v VARCHAR(40), MODIFY e ENUM('b', 'a', 'y', 'c') NOT NULL AFTER id,"
        " MODIFY d DECIMAL(12, 2) DEFAULT 1, MODIFY c VARCHAR(5) NOT NULL DEFAULT '', MODIFY x LONGTEXT,"
        " MODIFY i BIGINT NOT NULL",
        "INSERT INTO orders VALUES (4, 'b', REPEAT('z', 40), 123456789.25, 'xxxxx', 'y', 4000000000)",
        "UPDATE orders SET e = 'y' WHERE id = 1",
        "ALTER TABLE orders MODIFY v MEDIUMTEXT",
    )
    assert orders.load().rows == 0
    orders.assert_equal()
    # The rows before the first of these have the type between the two. Trailing spaces are cut off in silence.
    orders.run(
        "UPDATE orders SET x = 'z'", "ALTER TABLE orders MODIFY c TEXT", "ALTER TABLE orders MODIFY c VARCHAR(9)"
    )
    with pytest.raises(SourceError, match=r"VARCHAR\(9\)"):
        orders.load()
    orders.load(alter="apply")
    orders.run("UPDATE orders SET e = 'b'", "ALTER TABLE orders MODIFY e ENUM('B', 'x')")
    with pytest.raises(SourceError, match="--on-alter"):
        orders.load()


def test_labels_that_another_character_set_lacks_are_read_again(orders):
    """The server makes them question marks, in strict mode, too."""
    orders.run("ALTER TABLE orders DEFAULT CHARSET = latin1, ADD e ENUM('ż', 'a') CHARACTER SET utf8mb4")
    orders.load()
    orders.run("UPDATE orders SET e = 'ż'", "ALTER TABLE orders MODIFY e ENUM('ż', 'a', 'b')")
    orders.load(alter="apply")
    orders.assert_equal()
    assert {row[2] for row in lake_rows(orders.target)} == {"?"}
