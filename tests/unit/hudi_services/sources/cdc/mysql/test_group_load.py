"""Tables of a server that become one Hudi table: its rows are those of all of them, with where they are from."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.dataset import HoodieDataset
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.storage import open_storage
from hudi_services.entry.source import StatementPolicies
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.mysql import group_load, target_batch
from hudi_services.sources.cdc.mysql.binlog import transaction_batch
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.mysql.table_source import MergedSource, TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.cdc.row_filter import EVERY_ROW
from tests.support.binlog import DECLARED
from tests.support.examples import seeds
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM

pytestmark = pytest.mark.process
APPLY = {"truncate": "apply", "drop": "apply", "rename": "apply", "alter": "apply"}


class Shards:
    """Tables `s1`, `s2` … of a database, and runs that bring them to one Hudi table."""

    def __init__(self, server, database, folder, count=3):
        self.server, self.database, self.path = server, database, str(folder / "lake")
        self.names = [f"s{number}" for number in range(1, count + 1)]
        self.environ = {"AIRFLOW_CONN_SHOP": server.url}
        self.cuts = CutStore(open_storage(str(folder / "state")), "shop")
        self.policies, self.options, self.masks, self.global_keys = {}, {}, Masks(), False
        self.added, self.filter = NOTHING_ADDED, EVERY_ROW
        server.run(f"CREATE DATABASE {database}")
        for place, name in enumerate(self.names):
            self.run(
                f"CREATE TABLE {name} (id INT PRIMARY KEY, v VARCHAR(20))",
                f"INSERT INTO {name} VALUES (1, 'a'), (2, '{place}')",
            )

    def run(self, *statements):
        self.server.run(f"USE {self.database}", *statements)

    def target(self, storage=None):
        policies = StatementPolicies(**self.policies)
        tables = tuple(TableSource("shop", self.database, name, statements=policies) for name in self.names)
        source = MergedSource("shop", tables, self.global_keys)
        return TargetTable(
            source,
            storage or self.path,
            {**SMALL_BLOOM, "hoodie.table.name": "lake", **self.options},
            LocalEngine(1),
            self.masks,
            self.added,
            self.filter,
        )

    def sync(self, *, storage=None, resume=(), cuts=None, fresh=()):
        sync = ServerSync("shop", DECLARED, self.environ, [self.target(storage)], cuts or self.cuts, SystemClock())
        resumed, again = ([f"{self.database}.{name}" for name in names] for names in ((*resume, *fresh), fresh))
        result = sync.run(resume=resumed, fresh=again)
        return {name.rpartition(".")[2]: table for name, table in result.tables.items()}

    def states(self, result):
        return {name: table.state for name, table in result.items()}

    @property
    def commits(self):
        return len(HoodieTable.open(self.path).timeline.commits)

    def lake_rows(self, *columns):
        rows = HoodieTable.open(self.path, engine=LocalEngine(1)).read().to_pylist()
        return sorted(
            ((row["_source_database"], row["_source_table"], *(row.get(name) for name in columns)) for row in rows),
            key=str,
        )

    def server_rows(self, *columns, names=None):
        found = []
        connection = self.server.connection(self.database)
        with connection.cursor() as cursor:
            for name in names or self.names:
                cursor.execute(f"SELECT * FROM {name}")
                own = [column[0] for column in cursor.description]
                for row in cursor.fetchall():
                    values = dict(zip(own, row, strict=True))
                    found.append((self.database, name, *(values.get(column) for column in columns)))
        connection.close()
        return sorted(found, key=str)

    def assert_equal(self, *columns):
        columns = columns or ("id", "v")
        assert self.lake_rows(*columns) == self.server_rows(*columns)


@pytest.fixture
def shards(server, request, tmp_path):
    return Shards(server, f"merged_{random.Random(request.node.name).randrange(10**9)}", tmp_path)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_shards_become_one_table_and_a_transaction_over_them_is_one_commit(shards, kind):
    shards.options = {"hoodie.table.type": kind}
    assert set(shards.states(shards.sync()).values()) == {"current"}
    assert shards.commits == 1
    shards.assert_equal()
    shards.run(
        "BEGIN",
        "UPDATE s1 SET v = 'moved' WHERE id = 1",
        "DELETE FROM s2 WHERE id = 1",
        "INSERT INTO s3 VALUES (7, 'new')",
        "UPDATE s3 SET id = 8 WHERE id = 1",
        "COMMIT",
    )
    result = shards.sync()
    assert shards.commits == 2
    assert {name: table.load.changes for name, table in result.items()} == {"s1": 1, "s2": 1, "s3": 2}
    shards.assert_equal()
    shards.sync()
    assert shards.commits == 2
    stored = shards.target().stored_position()
    assert set(stored.tables) == {f"{shards.database}.{name}" for name in shards.names}
    assert stored.text.count('"position"') == 1
    cut = shards.cuts.latest()
    assert set(cut.tables) == set(stored.tables)


def test_snapshots_are_grouped_and_new_shards_join(shards, monkeypatch):
    monkeypatch.setattr(group_load, "GROUP_ROWS", 4)
    shards.sync()
    assert shards.commits == 2
    shards.run(
        "CREATE TABLE s4 (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO s4 VALUES (1, 'x')", "DELETE FROM s1"
    )
    shards.names.append("s4")
    result = shards.sync()
    assert result["s4"].load.rows == 1
    shards.assert_equal()


def test_the_widest_columns_hold_all_shards_and_a_clash_parks_one(shards):
    shards.run(
        "ALTER TABLE s1 ADD n INT, ADD only_here VARCHAR(9)",
        "UPDATE s1 SET n = 5, only_here = 'x'",
        "ALTER TABLE s2 ADD n BIGINT",
        "UPDATE s2 SET n = 5000000000",
        "CREATE TABLE s4 (id INT PRIMARY KEY, v DATE)",
        "CREATE TABLE s5 (id INT PRIMARY KEY, _Source_Table INT)",
        "CREATE TABLE s6 (other INT PRIMARY KEY, id INT)",
    )
    good = list(shards.names)
    shards.names += ["s4", "s5", "s6"]
    states = shards.states(shards.sync())
    assert states == dict.fromkeys(good, "current") | dict.fromkeys(["s4", "s5", "s6"], "parked")
    shards.names = good
    shards.assert_equal("id", "v", "n", "only_here")
    shards.run(
        "ALTER TABLE s3 ADD n VARCHAR(5)", "INSERT INTO s3 VALUES (9, 'y', 'text')", "DELETE FROM s1 WHERE id = 1"
    )
    states = shards.states(shards.sync())
    assert states == {"s1": "current", "s2": "current", "s3": "parked"}
    assert shards.lake_rows("id") == sorted(
        [*shards.server_rows("id", names=["s1", "s2"]), *((shards.database, "s3", i) for i in (1, 2))], key=str
    )


def test_columns_that_shards_get_one_after_the_other(shards):
    shards.sync()
    for name in shards.names:
        shards.run(f"ALTER TABLE {name} ADD n INT", f"INSERT INTO {name} VALUES (5, 'x', 7)")
        assert set(shards.states(shards.sync()).values()) == {"current"}
    for name in shards.names:
        shards.run(f"ALTER TABLE {name} ADD m INT", f"INSERT INTO {name} VALUES (6, 'x', 7, 8)")
    assert set(shards.states(shards.sync()).values()) == {"current"}
    shards.assert_equal("id", "v", "n", "m")
    shards.run("ALTER TABLE s2 DROP n", "ALTER TABLE s2 ADD n INT")  # rows of s2 have values that the server forgot
    assert shards.states(shards.sync()) == {"s1": "current", "s2": "parked", "s3": "current"}


def test_a_column_that_all_shards_get_is_read_once(shards, monkeypatch):
    """Reading all rows for each of a thousand shards took longer than everything else together."""
    shards.run("ALTER TABLE s1 ADD n INT, ADD m INT", "UPDATE s1 SET n = 1 WHERE id = 1")
    shards.sync()
    reads, read = [], HoodieDataset.to_batches
    monkeypatch.setattr(HoodieDataset, "to_batches", lambda *args: reads.append(args[1]) or read(*args))
    shards.run(
        *(f"ALTER TABLE {name} ADD {column} INT" for name in ("s2", "s3") for column in ("n", "fresh")),
        "ALTER TABLE s1 DROP m, ADD fresh INT",
        "ALTER TABLE s1 ADD m INT",
        *(f"UPDATE {name} SET fresh = 5" for name in shards.names),
    )
    assert set(shards.states(shards.sync()).values()) == {"current"}
    assert [columns[-1] for columns in reads] == ["n", "m"]
    shards.assert_equal("id", "v", "n", "m", "fresh")
    shards.run("ALTER TABLE s1 DROP n", "ALTER TABLE s1 ADD n INT", "ALTER TABLE s2 DROP n", "ALTER TABLE s2 ADD n INT")
    assert shards.states(shards.sync()) == {"s1": "parked", "s2": "current", "s3": "current"}


def test_shards_that_change_their_columns_while_rows_change_share_a_commit(shards):
    shards.run(*(f"ALTER TABLE {name} ADD w INT, ADD gone INT" for name in shards.names))
    shards.sync()
    before = shards.commits
    for name in shards.names:
        shards.run(
            f"INSERT INTO {name} VALUES (5, 'x', 7, 1)",
            f"ALTER TABLE {name} ADD n_{name} INT, MODIFY w BIGINT, DROP gone",
            f"INSERT INTO {name} VALUES (6, 'y', 5000000000, 8)",
            f"UPDATE {name} SET w = 6000000000, n_{name} = 9 WHERE id = 5",
        )
    assert set(shards.states(shards.sync()).values()) == {"current"}
    assert shards.commits == before + 1
    shards.assert_equal("id", "v", "w", *(f"n_{name}" for name in shards.names))


def test_statements_about_one_shard_touch_its_rows_only(shards):
    shards.sync()
    shards.run(
        "INSERT INTO s1 VALUES (3, 'c')", "TRUNCATE s1", "INSERT INTO s1 VALUES (4, 'd')", "DELETE FROM s2 WHERE id = 1"
    )
    assert shards.states(shards.sync()) == {"s1": "parked", "s2": "current", "s3": "current"}
    shards.run("INSERT INTO s3 VALUES (3, 'z')", "INSERT INTO s1 VALUES (5, 'e')")
    assert shards.states(shards.sync()) == {"s1": "parked", "s2": "current", "s3": "current"}
    shards.policies = APPLY
    assert set(shards.states(shards.sync(resume=["s1"])).values()) == {"current"}
    shards.assert_equal()
    shards.run(
        "ALTER TABLE s1 ADD n INT NOT NULL DEFAULT 7",
        "DROP TABLE s2",
        "UPDATE s3 SET v = 'later'",
        "RENAME TABLE s3 TO old, s1 TO s3",
        "RENAME TABLE old TO s1",
    )
    shards.sync()
    assert shards.states(shards.sync()) == {"s1": "current", "s2": "dropped", "s3": "current"}
    assert shards.cuts.latest().dropped == (f"{shards.database}.s2",)
    shards.names.remove("s2")
    shards.assert_equal("id", "v", "n")
    shards.run("CREATE TABLE s2 (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO s2 VALUES (1, 'again')")
    shards.names.append("s2")
    assert set(shards.states(shards.sync()).values()) == {"current"}
    shards.assert_equal("id", "v", "n")


def test_a_parked_shard_says_what_helps_and_its_rows_are_read_again(shards):
    """No other load reads one shard, and a commit of the others does not wait for it."""
    shards.sync()
    shards.run("INSERT INTO s1 VALUES (3, 'c')", "TRUNCATE s1", "INSERT INTO s1 VALUES (4, 'd')", "DELETE FROM s2")
    parked = shards.sync()["s1"]
    command = f"`hudi-services cdc sync shop --resume {shards.database}.s1 --start-fresh`"
    assert (parked.state, parked.fix.startswith(f"read all its rows again: {command}, or choose")) == ("parked", True)
    shards.run("INSERT INTO s1 VALUES (5, 'e')", "INSERT INTO s3 VALUES (9, 'z')")
    result = shards.sync(fresh=["s1"])
    assert set(shards.states(result).values()) == {"current"}
    assert (result["s1"].load.rows, result["s3"].load.rows) == (2, 0)
    shards.assert_equal()
    shards.run("ALTER TABLE s2 MODIFY v DATE", "INSERT INTO s2 VALUES (6, '2026-01-01')")
    fix = shards.sync()["s2"].fix
    assert "SKIP TABLE leaves it out" in fix or "--start-fresh`" in fix


def test_masks_hide_columns_of_all_shards(shards):
    shards.masks = Masks({"v": "hash"}, "key")
    shards.policies = APPLY
    shards.sync()
    shards.run("INSERT INTO s1 VALUES (3, 'a')", "TRUNCATE s2", "INSERT INTO s2 VALUES (5, 'a')")
    assert set(shards.states(shards.sync()).values()) == {"current"}
    rows = shards.lake_rows("id", "v")
    assert [row[:3] for row in rows] == shards.server_rows("id")
    assert all(len(row[3]) == 64 for row in rows)


def test_keys_that_are_global_leave_the_source_out_of_the_key(shards, monkeypatch):
    shards.global_keys = True
    assert "rows of one key" in shards.sync()["s1"].reason
    shards.run("UPDATE s2 SET id = id + 10", "UPDATE s3 SET id = id + 20")
    shards.sync(resume=shards.names)
    shards.assert_equal()
    assert HoodieTable.open(shards.path).properties.record_key_fields == ("id",)
    for steps in (
        ["INSERT INTO s2 SELECT * FROM s1 WHERE id = 1", "UPDATE s1 SET v = 'moved' WHERE id = 1"],
        [
            "DELETE FROM s1 WHERE id = 1",
            "INSERT INTO s3 SELECT * FROM s2 WHERE id = 11",
            "DELETE FROM s2 WHERE id = 11",
        ],
    ):
        shards.run(*steps)
        assert set(shards.states(shards.sync()).values()) == {"current"}
    shards.assert_equal()
    monkeypatch.setattr(transaction_batch, "_BYTES", 1)
    monkeypatch.setattr(target_batch, "ROWS", 1)
    shards.run(
        "INSERT INTO s1 VALUES (50, 'x'), (60, 'x')",
        "INSERT INTO s2 SELECT * FROM s1 WHERE id = 50",
        "UPDATE s3 SET v = 'between'",
        "DELETE FROM s1 WHERE id = 50",
    )
    assert set(shards.states(shards.sync(fresh=["s2"])).values()) == {"current"}  # s1 is behind its rows
    shards.assert_equal()
    shards.run("CREATE TABLE s4 (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO s4 VALUES (11, 'x')")
    shards.names.append("s4")
    assert shards.sync()["s4"].state == "parked"


@pytest.mark.parametrize("statements", sample([True, False], 0))
def test_a_run_that_is_killed_at_any_call_loses_and_doubles_nothing(shards, tmp_path, monkeypatch, statements):
    monkeypatch.setattr(group_load, "GROUP_ROWS", 3)
    shards.policies = APPLY
    if statements:
        shards.sync()
        shards.run("INSERT INTO s1 VALUES (3, 'c')", "TRUNCATE s2", "INSERT INTO s2 VALUES (4, 'd')")
        shards.run("ALTER TABLE s3 ADD n INT DEFAULT 7", "DELETE FROM s1 WHERE id = 1", "UPDATE s3 SET v = 'w'")
        shutil.move(shards.path, tmp_path / "loaded")
    killed = 0
    for fail_at in range(1, 900, 25):
        shutil.rmtree(shards.path, ignore_errors=True)
        shutil.rmtree(tmp_path / "state", ignore_errors=True)
        if statements:
            shutil.copytree(tmp_path / "loaded", shards.path)
        else:
            (tmp_path / "lake").mkdir()
        with suppress(Killed):
            shards.sync(
                storage=FaultyStorage(shards.path, fail_at, "kill", False), cuts=NoCuts(shards.cuts.storage, "shop")
            )
            break
        killed += 1
        assert set(shards.states(shards.sync(resume=shards.names)).values()) == {"current"}
        shards.assert_equal("id", "v")
    assert killed > 3


class NoCuts(CutStore):
    """Cuts are not stored: the storage that dies has no path."""

    def put(self, cut):
        pass


@pytest.mark.parametrize("seed", seeds(4, part=4))
def test_random_transactions_and_kills_end_equal(server, tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    monkeypatch.setattr(group_load, "GROUP_ROWS", 4)
    shards = Shards(server, f"merged_random_{seed}", tmp_path)
    shards.policies, shards.options = APPLY, {"hoodie.table.type": ["COPY_ON_WRITE", "MERGE_ON_READ"][seed % 2]}
    for _ in range(4):
        for _ in range(draw.randrange(3)):
            random_steps(shards, draw)
            with suppress(Killed, HoodieError):
                storage = FaultyStorage(shards.path, draw.randrange(1, 300), "kill", False)
                shards.sync(storage=storage, resume=shards.names, cuts=NoCuts(shards.cuts.storage, "shop"))
        random_steps(shards, draw)
        assert set(shards.states(shards.sync(resume=shards.names)).values()) == {"current"}
        shards.assert_equal("id", "v")


def random_steps(shards, draw):
    for _ in range(draw.randrange(6)):
        name, key = draw.choice(shards.names), draw.randrange(12)
        statements = [
            f"INSERT INTO {name} (id, v) VALUES ({key}, 'i') ON DUPLICATE KEY UPDATE v = 'u'",
            f"UPDATE {draw.choice(shards.names)} SET v = {draw.randrange(99)} WHERE id > {key}",
            f"DELETE FROM {draw.choice(shards.names)} WHERE id = {key}",
            f"UPDATE IGNORE {name} SET id = id + 3 WHERE id = {key}",
        ]
        shards.run("BEGIN", *draw.choices(statements, k=3), draw.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
        if draw.random() < 0.2:
            shards.run(
                draw.choice([f"TRUNCATE {name}", f"ALTER TABLE {name} ADD c{draw.randrange(10**6)} INT DEFAULT 1"])
            )
        if draw.random() < 0.1:
            shards.names.append(f"s{len(shards.names) + 1}")
            shards.run(f"CREATE TABLE {shards.names[-1]} (id INT PRIMARY KEY, v VARCHAR(20))")


def test_columns_of_a_shard_are_joined_once_in_a_commit(shards, monkeypatch):
    """A thousand shards have a few rows each in every part of the log."""
    shards.sync()
    joined, widest = [], target_batch.widest
    monkeypatch.setattr(target_batch, "widest", lambda *schemas: joined.append(schemas) or widest(*schemas))
    monkeypatch.setattr(transaction_batch, "_BYTES", 1)  # each transaction comes by itself
    for turn in range(3):
        shards.run(*(f"UPDATE {name} SET v = '{turn}'" for name in shards.names))
    shards.sync()
    assert len(joined) == len(shards.names)
    shards.assert_equal()
