"""Overwrites and drops of ours to Hudi 1.2.0, and Hudi's to us: read, written on, cleaned, rolled back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hoodie import CLEAN, COMPACTION, TTL, HoodieTable
from hoodie.errors import PendingInstantError
from hoodie.timeline import Action, State
from tests.interop.peer import PeerError
from tests.interop.test_cow import hudi_options
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.history import PARTS, REPLACING, History, random_steps
from tests.support.matrix import diagonal, sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.interop

OPERATION = "hoodie.datasource.write.operation"
DAYS = "hoodie.partition.ttl.strategy.days.retain"
TO_DELETE = "hoodie.datasource.write.partitions.to.delete"
ROWS = [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1), ("d", "r", 1, 1)]
VERSIONS = ["9", "6"]
TABLES = [(version, kind) for version in VERSIONS for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")]


@pytest.fixture
def table(request, tmp_path, version):
    made = create(tmp_path / "t", **{"hoodie.write.table.version": version, "hoodie.table.type": request.param})
    made.write(batch(ROWS), "insert", SMALL_BLOOM)
    made.write(batch([("a", "p", 2, 2)]), "upsert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
    return made


def hudis(table, operation, **more):
    return hudi_options(table, True) | {OPERATION: operation, "hoodie.clean.automatic": "false"} | more


def seen(rows):
    found = {row["id"]: (row["part"], row["ts"], row["value"]) for row in rows.to_pylist()}
    assert len(found) == rows.num_rows, "a key stands more than once"
    return found


@pytest.mark.format("11d")
@pytest.mark.parametrize(("version", "table"), sample(TABLES, 0), indirect=["table"])
def test_hudi_goes_on_after_ours(table, hudi12, hudi_rs_read):
    path = table.base_path
    table.write(batch([("x", "p", 3, 3), ("y", "s", 3, 3)]), "insert_overwrite", SMALL_BLOOM)
    rest = {"c": ("q", 1, 1), "d": ("r", 1, 1), "x": ("p", 3, 3), "y": ("s", 3, 3)}
    assert seen(hudi12.read(path)) == seen(hudi_rs_read(path)) == content(table) == rest
    table.delete_partitions(["part=q"])
    assert sorted(seen(hudi_rs_read(path))) == ["d", "x", "y"]
    hudi12.write(path, batch([("x", "p", 4, 4), ("c", "q", 4, 4)]), hudis(table, "upsert"))
    rest |= {"x": ("p", 4, 4), "c": ("q", 4, 4)}
    assert seen(hudi12.read(path)) == content(table) == rest
    table.write(batch([("z", "s", 5, 5)]), "insert_overwrite_table", SMALL_BLOOM)
    assert seen(hudi12.read(path)) == content(table) == {"z": ("s", 5, 5)}
    hudi12.write(path, batch([("z", "s", 6, 6)]), hudis(table, "upsert"))
    hudi12.clean(path, **{"hoodie.clean.commits.retained": "1", "hoodie.metadata.enable": "false"})
    assert not [file for file in table.storage.list("part=r").files if file.name.endswith(".parquet")]
    assert seen(hudi12.read(path)) == content(table) == {"z": ("s", 6, 6)}
    table.truncate()
    assert content(table) == {}
    hudi12.write(path, batch([("z", "s", 7, 7)]), hudis(table, "upsert"))
    assert seen(hudi12.read(path)) == content(table) == {"z": ("s", 7, 7)}


@pytest.mark.metadata
@pytest.mark.parametrize(("version", "table"), sample(TABLES, 1), indirect=["table"])
def test_we_go_on_after_hudis(table, hudi12):
    path = table.base_path
    hudi12.write(path, batch([("x", "p", 3, 3), ("y", "s", 3, 3)]), hudis(table, "insert_overwrite"))
    rest = {"c": ("q", 1, 1), "d": ("r", 1, 1), "x": ("p", 3, 3), "y": ("s", 3, 3)}
    assert content(table) == rest
    hudi12.write(path, batch(ROWS[:1]), hudis(table, "delete_partition", **{TO_DELETE: "part=q,part=s*"}))
    table.write(batch([("x", "p", 4, 4), ("s", "s", 4, 4)]), "upsert", SMALL_BLOOM)
    rest = {"d": ("r", 1, 1), "x": ("p", 4, 4), "s": ("s", 4, 4)}
    assert seen(hudi12.read(path)) == content(table) == rest
    hudi12.write(path, batch([("z", "s", 5, 5)]), hudis(table, "insert_overwrite_table"))
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    table.write(batch([("z", "s", 6, 6)]), "upsert", SMALL_BLOOM)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert not [file for file in table.storage.list("part=r").files if file.name.endswith(".parquet")]
    assert seen(hudi12.read(path)) == content(table) == {"z": ("s", 6, 6)}


@pytest.mark.parametrize(("version", "table"), sample(TABLES, 3), indirect=["table"])
def test_hudi_rolls_back_one_of_ours_that_was_killed(table, hudi12):
    path, before = table.base_path, content(table)
    for calls in range(1, 200):
        dying = HoodieTable(FaultyStorage(path, calls), table.engine, table.clock)
        with pytest.raises(Killed):
            dying.write(batch([("x", "p", 3, 3), ("y", "s", 3, 3)]), "insert_overwrite", SMALL_BLOOM)
        pending = table.timeline.pending
        if (
            pending
            and pending[-1].action is Action.REPLACE_COMMIT
            and pending[-1].state is State.INFLIGHT
            and calls > 40
        ):
            break
        table.write(batch([]), "upsert", SMALL_BLOOM)
    assert seen(hudi12.read(path)) == before
    table.storage.delete(".hoodie/lock")
    hudi12.write(path, batch([("c", "q", 4, 4)]), hudis(table, "upsert"))
    assert seen(hudi12.read(path)) == content(table) == before | {"c": ("q", 4, 4)}
    assert table.timeline.pending == ()


@pytest.mark.parametrize("version", sample(VERSIONS, 0))
def test_pending_compactions_are_met_as_hudi_meets_them(tmp_path, version, hudi12):
    options = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    ours, theirs = (create(tmp_path / name, **options) for name in ("ours", "theirs"))
    for table in (ours, theirs):
        table.write(batch(ROWS), "insert", SMALL_BLOOM)
        table.write(batch([("a", "p", 2, 2)]), "upsert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
        table.schedule(COMPACTION, force=True)
    with pytest.raises(PendingInstantError):
        ours.delete_partitions(["part=p"])
    with pytest.raises(PeerError, match="pending"):
        hudi12.write(theirs.base_path, batch(ROWS[:1]), hudis(theirs, "delete_partition", **{TO_DELETE: "part=p"}))
    ours.write(batch([("x", "p", 3, 3)]), "insert_overwrite", SMALL_BLOOM)
    hudi12.write(theirs.base_path, batch([("x", "p", 3, 3)]), hudis(theirs, "insert_overwrite"))
    for table in (ours, theirs):
        assert "a" not in content(table)
        table.run(COMPACTION)
        assert seen(hudi12.read(table.base_path)) == content(table)
        assert content(table)["x"] == ("p", 3, 3)


@pytest.mark.parametrize(
    ("kind", "of_version"), sample([("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("MERGE_ON_READ", "6")], 1)
)
def test_hudi_reads_a_history_with_them(tmp_path, hudi12, kind, of_version):
    history = History(tmp_path / "t", kind, of_version, "EVENT_TIME_ORDERING")
    for number, step in enumerate(
        random_steps(7, 16, ("upsert", "upsert", "delete", "schedule", "compact", *REPLACING))
    ):
        history.run(step)
        history.check()
        if number % 3 == 0:
            rows = hudi12.read(history.table.base_path)
            assert seen(rows) == history.model.content(), number
    history.check_past()
    hudi12.write(history.table.base_path, batch([("k0", PARTS["k0"], 9, 9)]), hudis(history.table, "upsert"))
    assert content(history.table) == history.model.content() | {"k0": (PARTS["k0"], 9, 9)}


@pytest.mark.parametrize(("version", "strategy"), diagonal(VERSIONS, ["KEEP_BY_TIME", "KEEP_BY_CREATION_TIME"]))
def test_partitions_outlive_their_time_as_in_hudi(tmp_path, version, hudi12, strategy):
    """But for a merge-on-read partition that only logs were written to: Hudi looks at base files alone, and drops it."""
    options = {DAYS: 20, "hoodie.partition.ttl.management.strategy.type": strategy}
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        name = f"ttl_{kind.lower()}_{strategy.lower()}_{version}"
        clock = FakeClock(datetime.now(UTC) - timedelta(days=40))
        table = create(tmp_path / name, clock, **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
        table.write(batch([("1", "a", 1, 1), ("2", "b", 1, 1)]), "insert", SMALL_BLOOM)
        clock.time += timedelta(days=30)
        table.write(batch([("2", "b", 2, 2)]), "upsert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
        clock.time += timedelta(days=9)
        table.write(batch([("3", "c", 1, 1)]), "insert", SMALL_BLOOM)
        ours = HoodieTable.open(table.base_path).explain(TTL, options).plan.partitions
        hudi12.sql(f"create table {name} using hudi location '{table.base_path}'")
        more = f"hoodie.metadata.enable=false,hoodie.write.auto.upgrade=false,hoodie.write.table.version={version}"
        call = f"call run_ttl(table => '{name}', ttl_policy => '{strategy}', retain_days => 20, options => '{more}')"
        theirs = sorted(row["deleted_partitions"] for row in hudi12.sql(call))
        logged = kind == "MERGE_ON_READ" and strategy == "KEEP_BY_TIME"
        assert theirs == (["part=a", "part=b"] if logged else ours)
        assert ours == (["part=a"] if strategy == "KEEP_BY_TIME" else ["part=a", "part=b"])
        assert sorted(seen(hudi12.read(table.base_path))) == sorted(content(HoodieTable.open(table.base_path)))
