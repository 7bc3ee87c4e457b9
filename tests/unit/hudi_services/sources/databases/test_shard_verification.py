"""Tables of one Hudi table are compared with it: each planted difference is found in its table, and a repair makes all equal."""

from __future__ import annotations

import os
import random

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, PendingInstantError
from hudi_services.registry.database_tables import cut_store, registered_sync
from hudi_services.registry.load import read_registry
from hudi_services.sources.cdc.mysql.equality import repair
from hudi_services.sources.cdc.mysql.equality.proof import verified_up_to
from hudi_services.sources.databases import shard_verification
from hudi_services.sources.databases.shard_verification import ShardVerification
from hudi_services.sources.databases.table_verifications import VerificationStore
from hudi_services.sources.databases.verification import ServerVerification
from tests.support.mariadb import MariaDB
from tests.support.tables import SMALL_BLOOM

pytestmark = pytest.mark.process
ROWS = 40


@pytest.fixture(scope="module")
def server():
    server = MariaDB()
    yield server
    server.stop()


class Shards:
    """Tables `s1`, `s2` … of a database that a rule brings into one Hudi table."""

    def __init__(self, server, folder, monkeypatch, name, more=""):
        self.server, self.database, self.path = server, name, str(folder / "lake")
        self.file = folder / "tables.yaml"
        self.file.write_text(
            f"""
servers:
  shop: {{type: mysql, connection: shop, tls: off, server_id: 5402, state: {folder}/state}}
databases:
  - {{server: shop, database: {name}, merge: true, base_path: {self.path}{more}}}
"""
        )
        monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
        server.run(f"CREATE OR REPLACE DATABASE {name}")

    def run(self, *statements):
        self.server.run(f"USE {self.database}", *statements)

    @property
    def sync(self):
        return registered_sync("shop", read_registry(self.file), os.environ)

    def verify(self, *names, repair=False, limit=20):
        chosen = [f"{self.database}.{name}" for name in names] or [
            source.full_name for target in self.sync.targets_of(self.sync.current()) for source in target.source.tables
        ]
        return ShardVerification(self.sync, frozenset(chosen), limit).verify(repair=repair)

    def verify_all(self, only=()):
        results = ServerVerification(self.sync, 60, frozenset(f"{self.database}.{name}" for name in only)).run()
        return {result.table.partition(".")[2]: result for result in results}

    @property
    def lake(self):
        return HoodieTable.open(self.path, engine=LocalEngine(1))

    def rows(self):
        return sorted(self.lake.read().to_pylist(), key=str)

    def plant(self, action, source, **columns):
        """Write a row as a foreign writer: `upsert` or `delete`."""
        values = {"_source_database": self.database, "_source_table": source, **columns}
        schema = self.lake.stored_schema
        row = pa.table({name: pa.array([value], schema.field(name).type) for name, value in values.items()})
        self.lake.write(row, action, SMALL_BLOOM)

    def counts(self, report):
        """The differences by table."""
        return {
            name.partition(".")[2]: (table.missing, table.surplus, table.changed, table.copied)
            for name, table in report.tables.items()
            if table.differing
        }


@pytest.fixture
def make(server, tmp_path, monkeypatch, request):
    name = f"mver_{random.Random(request.node.name).randrange(10**9)}"
    return lambda more="": Shards(server, tmp_path, monkeypatch, name, more)


@pytest.fixture
def shards(make):
    """Three tables with other widths of a number, and a column that only one has."""
    return filled(make())


def filled(shards):
    shards.run(
        "CREATE TABLE s1 (id INT PRIMARY KEY, v VARCHAR(20), n INT, f FLOAT)",
        "CREATE TABLE s2 (id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET latin1, n BIGINT, f DOUBLE)",
        "CREATE TABLE s3 (id BIGINT PRIMARY KEY, n INT, v VARCHAR(9), extra INT)",
        f"INSERT INTO s1 SELECT seq, CONCAT('v', seq), seq, seq / 10 FROM seq_1_to_{ROWS}",
        f"INSERT INTO s2 SELECT seq, CONCAT('ä', seq), seq + 5000000000, seq / 10 FROM seq_1_to_{ROWS}",
        f"INSERT INTO s3 SELECT seq, NULLIF(seq, 3), NULL, seq FROM seq_1_to_{ROWS}",
    )
    return shards


def test_tables_of_one_hudi_table_are_equal_and_the_proof_is_of_all(shards):
    report = shards.verify()
    assert (report.is_equal, report.rows, report.lake_rows, report.rows_read) == (True, 3 * ROWS, 3 * ROWS, 0)
    assert {table.rows for table in report.tables.values()} == {ROWS}
    proof = verified_up_to(shards.path)
    assert (proof.source, proof.position, proof.rows) == ("shop/*", report.position, 3 * ROWS)
    results = shards.verify_all()
    assert {name: (one.state, one.rows, one.reason) for name, one in results.items()} == dict.fromkeys(
        ("s1", "s2", "s3"), ("equal", ROWS, "")
    )
    stored = VerificationStore(cut_store("shop", read_registry(shards.file)).storage, "shop").latest()
    assert {one.state for one in stored.tables.values()} == {"equal"}
    assert shards.verify("s2").rows == ROWS


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_each_planted_difference_is_found_in_its_table_and_repaired(make, kind):
    shards = filled(make(f", hoodie: {{hoodie.table.type: {kind}}}"))
    shards.sync.run()
    right = [{name: row[name] for name in row if not name.startswith("_hoodie")} for row in shards.rows()]
    shards.plant("delete", "s1", id=1)
    shards.plant("upsert", "s1", id=900, v="extra", n=1, f=None)
    shards.plant("upsert", "s2", id=2, v="ä2", n=5_000_000_003, f=0.2)
    shards.plant("delete", "s2", id=5)
    shards.plant("upsert", "s3", id=905, v=None, n=5, extra=5)
    shards.plant("upsert", "s3", id=7, v=None, n=7 + 2**40, extra=7)  # no value of the table's column
    shards.plant("upsert", "s3", id=3, v=None, n=0, extra=3)  # it is null
    report = shards.verify(limit=100)
    assert shards.counts(report) == {"s1": (1, 1, 0, 0), "s2": (1, 0, 1, 0), "s3": (0, 1, 2, 0)}
    assert not report.is_equal
    assert {(one.kind, one.key["_source_table"], one.key["id"]) for one in report.examples} == {
        ("missing", "s1", 1),
        ("surplus", "s1", 900),
        ("changed", "s2", 2),
        ("missing", "s2", 5),
        ("surplus", "s3", 905),
        ("changed", "s3", 7),
        ("changed", "s3", 3),
    }
    assert report.columns == {"n": 3}
    assert {name: one.state for name, one in shards.verify_all().items()} == dict.fromkeys(
        ("s1", "s2", "s3"), "differs"
    )
    assert shards.counts(shards.verify("s2")) == {"s2": (1, 0, 1, 0)}
    repaired = shards.verify(repair=True)
    assert (repaired.differing, repaired.written, repaired.is_equal) == (7, 7, True)
    assert [{name: row[name] for name in row if not name.startswith("_hoodie")} for row in shards.rows()] == right
    assert shards.verify().differing == 0
    shards.run("UPDATE s1 SET n = 0 WHERE id = 1")
    assert shards.verify().is_equal


def test_rows_under_another_table_and_of_tables_that_were_never_loaded_are_found(shards):
    shards.sync.run()
    row = {"v": "v4", "n": 4, "f": 0.4}
    shards.plant("delete", "s1", id=4)
    shards.plant("upsert", "s2", id=4000, **row)
    shards.plant("upsert", "s9", id=4, **row)
    report = shards.verify()
    assert shards.counts(report) == {"s1": (1, 0, 0, 0), "s2": (0, 1, 0, 0)}
    assert report.others == {f"{shards.database}.s9": 1}
    results = shards.verify_all()
    assert {name: (one.state, one.differing) for name, one in results.items()} == {
        "s1": ("differs", 1),
        "s2": ("differs", 1),
        "s3": ("equal", 0),
        "s9": ("differs", 1),
    }
    repaired = shards.verify(repair=True)
    assert (repaired.written, repaired.is_equal) == (2, False), "the report does not say that the rows of s9 are wrong"
    shards.plant("delete", "s9", id=4)
    assert shards.verify().is_equal


def test_values_in_columns_that_a_table_lacks_are_said(shards):
    shards.sync.run()
    shards.run(
        "ALTER TABLE s3 DROP extra", "CREATE TABLE s4 (id INT PRIMARY KEY, extra INT)", "INSERT INTO s4 VALUES (1, 1)"
    )
    report = shards.verify()
    assert report.tables[f"{shards.database}.s3"].unasked == {"extra": ROWS}
    assert report.is_equal
    notes = {name: one.reason for name, one in shards.verify_all().items()}
    assert notes["s3"] == f"not compared: {ROWS} values of the column extra, which the table lacks"
    shards.plant("upsert", "s1", id=2, v="v2", n=99, f=0.2)  # its chunk is read row by row
    shards.plant("upsert", "s3", id=2, v=None, n=99, extra=2)
    report = shards.verify()
    assert (shards.counts(report), report.columns) == ({"s1": (0, 0, 1, 0), "s3": (0, 0, 1, 0)}, {"n": 2})


def test_tables_that_are_not_at_the_cut_are_never_equal(shards, monkeypatch):
    shards.sync.run()
    shards.run("TRUNCATE s2")
    report = shards.verify()
    assert (report.is_equal, sorted(report.tables)) == (False, [f"{shards.database}.{name}" for name in ("s1", "s3")])
    assert report.left[f"{shards.database}.s2"].startswith("it is behind: ")
    assert verified_up_to(shards.path) is None
    alone = shards.verify("s2")
    assert (alone.is_equal, alone.tables) == (False, {})
    results = shards.verify_all()
    assert {name: one.state for name, one in results.items()} == {"s1": "equal", "s2": "left", "s3": "equal"}
    times = iter([0, 0, *[100] * 99])
    late = ServerVerification(shards.sync, 60, monotonic=lambda: next(times)).run()
    assert [one.state for one in late].count("left") == 3
    with pytest.raises(ConfigError, match="No Hudi table has the rows of x"):
        ShardVerification(shards.sync, frozenset(["x"])).verify()


def test_changes_and_commits_while_tables_are_compared(shards, monkeypatch):
    """Each transaction is one commit of all tables: a comparison sees all of it or nothing."""
    monkeypatch.setattr(shard_verification, "_PAUSES", (0,) * 5)
    shards.sync.run()
    shards.plant("delete", "s1", id=1)
    compare, turns = shard_verification.compare_shards, iter(range(100))

    def beside(*arguments, **more):
        turn = next(turns)
        shards.run("BEGIN", *(f"UPDATE {name} SET n = {turn} WHERE id > 10" for name in ("s1", "s2", "s3")), "COMMIT")
        if turn in (1, 2):
            shards.sync.run()
        return compare(*arguments, **more)

    monkeypatch.setattr(shard_verification, "compare_shards", beside)
    report = shards.verify()
    assert (report.missing, report.changed, report.surplus) == (1, 0, 0)
    report = shards.verify(repair=True)  # its cut is not the newest one: another load went on
    assert set(report.left) == {f"{shards.database}.{name}" for name in ("s1", "s2", "s3")}
    assert not report.written
    write = repair.write_differences

    def overtaken(*arguments):
        monkeypatch.setattr("hudi_services.sources.cdc.mysql.equality.shard_comparison.write_differences", write)
        shards.plant("upsert", "s1", id=2, v="foreign", n=0, f=0)
        write(*arguments)

    monkeypatch.setattr("hudi_services.sources.cdc.mysql.equality.shard_comparison.write_differences", overtaken)
    next(turns)
    report = shards.verify(repair=True)
    assert (report.missing, report.changed, report.written) == (1, 1, 2), "the first try has written nothing"
    monkeypatch.setattr(shard_verification, "compare_shards", compare)
    assert shards.verify().is_equal


def test_a_repair_beside_loads_that_always_commit_writes_nothing(shards, monkeypatch):
    monkeypatch.setattr(shard_verification, "_PAUSES", (0,) * 2)
    shards.sync.run()
    shards.plant("delete", "s1", id=1)
    write = repair.write_differences

    def overtaken(*arguments):
        shards.plant("upsert", "s1", id=2, v="foreign", n=0, f=0)
        write(*arguments)

    monkeypatch.setattr("hudi_services.sources.cdc.mysql.equality.shard_comparison.write_differences", overtaken)
    with pytest.raises(PendingInstantError):
        shards.verify(repair=True)
    monkeypatch.undo()
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", shards.server.url)
    assert (shards.verify().missing, shards.verify().changed) == (1, 1)
