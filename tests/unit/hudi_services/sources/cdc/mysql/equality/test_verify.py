"""A damaged table is found to differ in exactly the damaged rows, and a repair makes it equal to the server again."""

from __future__ import annotations

import random
from dataclasses import replace

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, CorruptTableError, PendingInstantError, SourceError
from hudi_services.sources.cdc.mysql import snapshot_load
from hudi_services.sources.cdc.mysql.equality import verify as module
from hudi_services.sources.cdc.mysql.equality.proof import verified_up_to
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.binlog import DECLARED
from tests.support.mysql_types import TYPES
from tests.support.tables import SMALL_BLOOM

pytestmark = pytest.mark.process


def load(server, database, target, options=None, table="t"):
    source = TableSource("shop", database, table)
    lake = TargetTable(source, str(target), {**SMALL_BLOOM, **(options or {})}, LocalEngine(1))
    return TableLoad(DECLARED, {"AIRFLOW_CONN_SHOP": server.url}, lake)


def lake(target):
    return HoodieTable.open(str(target), engine=LocalEngine(1))


def rows_of(target):
    return sorted(lake(target).read().to_pylist(), key=str)


@pytest.fixture
def database(server, request):
    name = f"verify_{random.Random(request.node.name).randrange(10**9)}"
    server.run(f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t (id INT PRIMARY KEY, v VARCHAR(20), n DECIMAL(8,2))")
    return name


def fill(server, database, rows=50):
    server.run(f"USE {database}", f"INSERT INTO t SELECT seq, CONCAT('v', seq), seq FROM seq_1_to_{rows}")


def random_table(draw, server, database):
    """A table of some types with random values, and the columns of its key."""
    types = draw.sample(TYPES, 7)
    columns = ", ".join(f"c{number} {kind}" for number, (kind, _, _) in enumerate(types))
    server.run(
        f"CREATE TABLE {database}.r (a VARCHAR(9) COLLATE utf8mb4_general_ci, b INT, {columns}, p INT, PRIMARY KEY (a, b))"
    )
    rows = []
    for number in range(60):
        values = [draw.choice(["NULL", *(sql for sql, _ in values)]) for _, _, values in types]
        rows.append(f"('{draw.choice('aAäb')}', {number}, {', '.join(values)}, {draw.randrange(3)})")
    server.run("SET SESSION sql_mode = '', time_zone = '+03:00'", f"INSERT INTO {database}.r VALUES {', '.join(rows)}")


def damage(draw, target, copies):
    """Change, delete, add and repeat rows as a foreign writer. Return the keys by kind."""
    table = lake(target)
    rows = table.read()
    order = draw.sample(range(rows.num_rows), 12)
    changed = rows.take(order[:5])
    name = draw.choice([name for name in rows.schema.names if name not in ("a", "b", "p")])
    column = changed[name].to_pylist()
    others = [value for value in rows[name].to_pylist() if value is not None]
    values = [None if value is not None else (others or [None])[0] for value in column]
    changed = changed.set_column(
        rows.schema.get_field_index(name), rows.schema.field(name), pa.array(values, changed[name].type)
    )
    really = [row for row, old, new in zip(changed.to_pylist(), column, values, strict=True) if old != new]
    deleted, copied = rows.take(order[5:8]), rows.take(order[8:10])
    added = rows.take(order[10:]).set_column(1, "b", pa.array([1000, 1001], pa.int32()))
    table.write(pa.concat_tables([changed, added]), "upsert", SMALL_BLOOM)
    table.write(deleted, "delete", SMALL_BLOOM)
    if copies:
        table.write(copied, "bulk_insert", SMALL_BLOOM)
    kinds = {
        "missing": deleted.to_pylist(),
        "surplus": added.to_pylist(),
        "changed": really,
        "copied": copied.to_pylist() * 2 * copies,
    }
    return {kind: sorted((row["a"], row["b"]) for row in rows) for kind, rows in kinds.items()}


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.deep("the same path with other damage")) for seed in range(1, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_damage_is_found_and_repaired(server, database, tmp_path, seed):
    draw = random.Random(seed)
    random_table(draw, server, database)
    options = {"hoodie.table.type": draw.choice(["COPY_ON_WRITE", "MERGE_ON_READ"])}
    if draw.random() < 0.5:
        options["hoodie.table.partition.fields"] = "p"
    load(server, database, tmp_path, options, "r").run()
    right = rows_of(tmp_path)
    assert EqualityCheck(load(server, database, tmp_path, table="r")).verify().is_equal
    for repair in ("verify", "resync"):
        expected = damage(draw, tmp_path, options["hoodie.table.type"] == "COPY_ON_WRITE")
        check = EqualityCheck(load(server, database, tmp_path, table="r"), limit=100)
        found = check.verify()
        kinds = {kind: [] for kind in expected}
        for example in found.examples:
            kinds[example.kind].append((example.key["a"], example.key["b"]))
        assert {kind: sorted(keys) for kind, keys in kinds.items()} == expected
        assert not found.is_equal
        repaired = check.verify(repair=True) if repair == "verify" else check.resync()
        assert repaired.is_equal
        assert repaired.differing == found.differing
        assert rows_of(tmp_path) == right
        assert not check.verify().differing


def meanwhile(monkeypatch, *actions):
    """Let each action happen once, right after a snapshot of the comparison was taken."""
    left = list(actions)
    run = TableLoad.run

    def run_after(self, **arguments):
        if arguments.get("until") is not None and left:
            left.pop(0)()
        return run(self, **arguments)

    monkeypatch.setattr(TableLoad, "run", run_after)


def test_changes_and_loads_beside_do_not_count(server, database, tmp_path, monkeypatch):
    fill(server, database)
    load(server, database, tmp_path).run()

    def change():
        server.run(f"USE {database}", "UPDATE t SET v = CONCAT(v, '!')", "DELETE FROM t WHERE id % 5 = 0")

    change()
    meanwhile(monkeypatch, change)
    found = EqualityCheck(load(server, database, tmp_path)).verify()
    assert (found.is_equal, found.rows, found.lake_rows) == (True, 40, 40)
    assert verified_up_to(str(tmp_path)).position == found.position

    def overtake():
        change()
        load(server, database, tmp_path).run()

    meanwhile(monkeypatch, overtake, overtake)
    found = EqualityCheck(load(server, database, tmp_path)).verify()
    assert found.is_equal
    assert found.position > verified_up_to(str(tmp_path)).position[:-9]
    meanwhile(monkeypatch, *[overtake] * 9)
    with pytest.raises(PendingInstantError, match="ahead of each comparison"):
        EqualityCheck(load(server, database, tmp_path)).verify()


def test_a_repair_keeps_the_position_and_the_columns_that_others_added(server, database, tmp_path):
    fill(server, database)
    load(server, database, tmp_path).run()
    before = load(server, database, tmp_path).target.stored_position()
    changed = pa.table({"id": pa.array([1, 2], pa.int32()), "v": ["v1", "x"], "extra": ["a", "b"]})
    changed = changed.append_column("n", pa.array([1, 2], pa.decimal128(8, 2)))
    lake(tmp_path).write(changed, "upsert", SMALL_BLOOM)
    server.run(f"INSERT INTO {database}.t VALUES (51, 'v51', NULL)")
    found = EqualityCheck(load(server, database, tmp_path), values=True).verify(repair=True)
    assert [(row.kind, row.key, row.server, row.lake) for row in found.examples] == [
        ("changed", {"id": 2}, {"v": "v2"}, {"v": "x"})
    ]
    after = load(server, database, tmp_path).target.stored_position()
    assert (after.place > before.place, found.written) == (True, 1)
    assert not load(server, database, tmp_path).run().commits


def test_a_table_that_was_altered(server, database, tmp_path):
    fill(server, database)
    load(server, database, tmp_path).run()
    server.run(f"ALTER TABLE {database}.t ADD w INT FIRST, DROP n", f"INSERT INTO {database}.t VALUES (7, 51, 'new')")
    assert EqualityCheck(load(server, database, tmp_path)).verify().is_equal
    server.run(f"ALTER TABLE {database}.t ADD x INT DEFAULT 5", f"DELETE FROM {database}.t WHERE id = 1")
    with pytest.raises(SourceError, match="without logging them"):
        EqualityCheck(load(server, database, tmp_path)).verify()
    found = EqualityCheck(load(server, database, tmp_path)).resync()
    assert (found.rows, found.rows_read, found.surplus, found.changed, found.columns) == (50, 50, 1, 50, {"x": 50})
    assert EqualityCheck(load(server, database, tmp_path)).verify().is_equal
    server.run(f"TRUNCATE {database}.t")
    assert EqualityCheck(load(server, database, tmp_path)).resync().written == 50
    assert not rows_of(tmp_path)


def test_tables_without_rows_and_tables_that_were_never_loaded(server, database, tmp_path):
    with pytest.raises(ConfigError, match="cdc load shop"):
        EqualityCheck(load(server, database, tmp_path / "never")).verify()
    load(server, database, tmp_path).run()
    found = EqualityCheck(load(server, database, tmp_path)).verify()
    assert (found.is_equal, found.rows) == (True, 0)
    server.run(f"CREATE TABLE {database}.other (id INT)")
    found = EqualityCheck(load(server, database, tmp_path)).resync()
    assert (found.is_equal, found.written) == (True, 0)
    fill(server, database)
    assert EqualityCheck(load(server, database, tmp_path)).resync().missing == 50
    assert EqualityCheck(load(server, database, tmp_path)).verify().rows == 50


def test_a_server_without_places_of_snapshots_is_refused(server, database, tmp_path, monkeypatch):
    load(server, database, tmp_path).run()
    found = module.snapshot

    def inexact(*arguments):
        from contextlib import contextmanager

        @contextmanager
        def opened():
            with found(*arguments) as rows:
                yield replace(rows, is_exact=False)

        return opened()

    monkeypatch.setattr(module, "snapshot", inexact)
    with pytest.raises(ConfigError, match="cdc resync"):
        EqualityCheck(load(server, database, tmp_path)).verify()
    assert EqualityCheck(load(server, database, tmp_path)).resync().is_equal


def test_equal_rows_that_the_server_prints_in_another_way_are_equal(server, database, tmp_path, monkeypatch):
    """The rows decide, not the checksums: text of two bytes for one letter is encoded by the other."""
    server.run(
        f"CREATE TABLE {database}.c (id INT PRIMARY KEY, v VARCHAR(9) CHARACTER SET cp932)",
        f"INSERT INTO {database}.c VALUES (1, CONVERT(UNHEX('879A') USING cp932)), (2, 'a')",
    )
    load(server, database, tmp_path, table="c").run()
    found = EqualityCheck(load(server, database, tmp_path, table="c")).verify()
    assert (found.is_equal, found.rows_read) == (True, 1)


def test_copies_in_a_merge_on_read_table_are_found_and_left(server, database, tmp_path):
    """Its index finds a copy that a log deletes, so the next change of the key would bring it back."""
    fill(server, database)
    load(server, database, tmp_path, {"hoodie.table.type": "MERGE_ON_READ"}).run()
    lake(tmp_path).write(lake(tmp_path).read().slice(0, 2), "bulk_insert", SMALL_BLOOM)
    check = EqualityCheck(load(server, database, tmp_path))
    assert check.verify().copied == 4
    for repair in (lambda: check.verify(repair=True), check.resync):
        with pytest.raises(CorruptTableError, match="--start-fresh"):
            repair()
    load(server, database, tmp_path).run(start_fresh=True)
    assert check.verify().is_equal


def test_a_snapshot_in_chunks_is_ended_before_its_rows_are_compared(server, database, tmp_path, monkeypatch):
    fill(server, database)
    for name, value in {"GROUP_ROWS": 12, "CHUNK_ROWS": 5}.items():
        monkeypatch.setattr(snapshot_load, name, value)
    read, reads = snapshot_load.read_chunk, []

    def changed(connection, source, chunk):
        reads.append(chunk)
        if len(reads) == 5:
            raise SourceError("The server went away")
        server.run(f"UPDATE {database}.t SET v = 'r{len(reads)}' WHERE id % 5 = {len(reads) % 5}")
        return read(connection, source, chunk)

    monkeypatch.setattr(snapshot_load, "read_chunk", changed)
    with pytest.raises(SourceError, match="went away"):  # one session, which reads chunks in their order
        replace(load(server, database, tmp_path), sessions=1).run()
    assert load(server, database, tmp_path).target.stored_position().is_loading
    report = EqualityCheck(load(server, database, tmp_path)).verify()
    assert (report.is_equal, report.rows, report.lake_rows) == (True, 50, 50)


def test_odd_names_and_rows_that_are_longer_than_a_packet(server, database, tmp_path):
    """The server makes null of a text that is longer than a packet: such rows are compared one by one."""
    server.run(
        f"CREATE TABLE {database}.`a%s ``t` (k VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY, v MEDIUMTEXT, w MEDIUMTEXT)",
        f"INSERT INTO {database}.`a%s ``t` VALUES ('a', REPEAT('x', 700000), REPEAT('y', 700000)), ('b', NULL, '')",
        "FLUSH BINARY LOGS",  # the server cannot say the transactions before a place after such an event
    )
    load(server, database, tmp_path, table="a%s `t").run()
    check = EqualityCheck(load(server, database, tmp_path, table="a%s `t"))
    assert check.verify().rows_read == 0
    server.run("SET GLOBAL max_allowed_packet = 1048576")
    try:
        found = check.verify()
        assert (found.is_equal, found.rows_read) == (True, 1)
        lake(tmp_path).write(
            pa.table({"k": ["a", "A"], "v": ["x" * 700_000, ""], "w": ["y", ""]}), "upsert", SMALL_BLOOM
        )
        found = check.verify(repair=True)
        assert (found.surplus, found.changed, found.columns) == (1, 1, {"w": 1})
        assert check.verify().is_equal
    finally:
        server.run("SET GLOBAL max_allowed_packet = 16777216")


def test_a_resync_goes_on_where_the_log_was_lost(server, database, tmp_path):
    fill(server, database)
    load(server, database, tmp_path).run()
    target = load(server, database, tmp_path).target
    stored = target.stored_position()
    target.write_position(stored, replace(stored, position="bin.999999:4"))
    server.run(f"DELETE FROM {database}.t WHERE id = 1")
    for use in (load(server, database, tmp_path).run, EqualityCheck(load(server, database, tmp_path)).verify):
        with pytest.raises(SourceError, match="does not continue"):
            use()
    assert EqualityCheck(load(server, database, tmp_path)).resync().surplus == 1
    server.run(f"DELETE FROM {database}.t WHERE id = 2")
    assert load(server, database, tmp_path).run().changes == 1
    assert len(rows_of(tmp_path)) == 48


def test_a_row_that_is_in_a_second_partition_is_taken_out_of_it(server, database, tmp_path):
    fill(server, database, rows=3)
    load(server, database, tmp_path, {"hoodie.table.partition.fields": "v"}).run()
    right = rows_of(tmp_path)
    first = lake(tmp_path).read(filter="id in (1, 2)")
    lake(tmp_path).write(first.set_column(1, "v", pa.array(["v1", "v9"])), "upsert", SMALL_BLOOM)
    found = EqualityCheck(load(server, database, tmp_path)).verify(repair=True)
    assert found.copied == 2
    assert rows_of(tmp_path) == right
