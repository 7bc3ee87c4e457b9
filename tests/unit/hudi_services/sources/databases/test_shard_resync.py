"""Tables of one Hudi table are read again: what differs is written, and their loads go on from the moment of the comparison."""

from __future__ import annotations

import random

import pytest

from hoodie.errors import PendingInstantError, SourceError
from hudi_services.sources.cdc.mysql.equality import repair
from hudi_services.sources.cdc.mysql.equality.proof import verified_up_to
from hudi_services.sources.databases import shard_resync
from hudi_services.sources.databases.shard_resync import ShardResync
from tests.unit.hudi_services.sources.databases.test_shard_verification import ROWS, filled, make, server, shards

__all__ = ["make", "server", "shards"]
pytestmark = pytest.mark.process
WRITE = "hudi_services.sources.cdc.mysql.equality.shard_comparison.write_differences"


def resync(shards, *names):
    return ShardResync(shards.sync, frozenset(f"{shards.database}.{name}" for name in names)).run()


def states(shards):
    return {name.partition(".")[2]: table.state for name, table in shards.sync.run().tables.items()}


def places(shards):
    [target] = shards.sync.targets_of(shards.sync.current())
    return {name.partition(".")[2]: place.position for name, place in target.stored_position().tables.items()}


def test_a_parked_table_goes_on_and_the_others_keep_their_places(shards):
    shards.sync.run()
    shards.run("TRUNCATE s1", "INSERT INTO s1 VALUES (1, 'kept', 1, 0.1), (900, 'new', 2, 0.2)")
    assert states(shards)["s1"] == "parked"
    shards.run("UPDATE s2 SET n = 1 WHERE id = 1", "UPDATE s1 SET n = 7 WHERE id = 900")
    before, commits = places(shards), len(shards.lake.timeline.commits)
    report = resync(shards, "s1")
    assert shards.counts(report) == {"s1": (1, ROWS - 1, 1, 0)}
    assert (report.is_equal, report.written, set(report.tables)) == (True, ROWS + 1, {f"{shards.database}.s1"})
    assert len(shards.lake.timeline.commits) == commits + 1
    after = places(shards)
    assert (after["s1"], {**after, "s1": ""}) == (report.position, {**before, "s1": ""})
    assert verified_up_to(shards.path) is None, "other tables were not compared"
    shards.run("DELETE FROM s1 WHERE id = 1")
    assert set(states(shards).values()) == {"current"}
    assert shards.verify().is_proof


def test_tables_that_are_equal_get_the_place_in_a_commit_without_rows(shards):
    shards.sync.run()
    shards.run("ALTER TABLE s1 DROP PRIMARY KEY, ADD PRIMARY KEY (id)", "TRUNCATE s3")
    shards.run(f"INSERT INTO s3 SELECT seq, NULLIF(seq, 3), NULL, seq FROM seq_1_to_{ROWS}")
    assert states(shards)["s3"] == "parked"
    before = shards.rows()
    report = resync(shards, "s1", "s2", "s3")
    assert (report.is_proof, report.differing, report.written, report.rows_read) == (True, 0, 0, 0)
    assert (shards.rows(), set(places(shards).values())) == (before, {report.position})
    assert verified_up_to(shards.path).position == report.position
    assert set(states(shards).values()) == {"current"}


def test_columns_that_changed_before_their_changes_were_read(shards):
    """The log is gone, so no load reads the statements."""
    shards.sync.run()
    shards.run(
        "ALTER TABLE s1 MODIFY n BIGINT, ADD fresh INT NOT NULL DEFAULT 7",
        "UPDATE s1 SET n = 6000000000 WHERE id = 5",
        "FLUSH BINARY LOGS",
    )
    shards.server.run("RESET MASTER")
    assert set(states(shards).values()) == {"parked"}
    report = resync(shards, "s1", "s2", "s3")
    assert shards.counts(report) == {"s1": (0, 0, ROWS, 0)}
    assert set(states(shards).values()) == {"current"}
    assert shards.verify().is_proof


@pytest.mark.parametrize("seed", range(2))
def test_loads_beside_it_go_on_from_its_moment(shards, monkeypatch, seed):
    monkeypatch.setattr(shard_resync, "_PAUSES", (0,) * 6)
    draw, write, turns = random.Random(seed), repair.write_differences, []

    def change():
        name, key = draw.choice(("s1", "s2", "s3")), draw.randrange(2 * ROWS)
        shards.run(
            "BEGIN",
            f"DELETE FROM {name} WHERE id = {key}",
            f"UPDATE {draw.choice(('s1', 's2', 's3'))} SET n = {len(turns)} WHERE id > {key}",
            f"INSERT INTO {name} (id, v) VALUES ({key}, 'x') ON DUPLICATE KEY UPDATE v = 'y'",
            "COMMIT",
        )

    def beside(*arguments):
        turns.append(draw.random())
        change()
        if len(turns) < 3:  # this try is too late
            shards.sync.run()
        change()
        write(*arguments)

    shards.sync.run()
    shards.plant("delete", "s1", id=1)
    shards.plant("upsert", "s2", id=3, v="foreign", n=0, f=0)
    for _ in range(3):
        change()
    monkeypatch.setattr(WRITE, beside)
    resync(shards, *draw.sample(["s1", "s2", "s3"], 2))
    assert len(turns) == 3
    monkeypatch.setattr(WRITE, write)
    assert set(states(shards).values()) == {"current"}
    report = shards.verify()
    repaired = shards.verify(repair=True) if report.differing else report
    assert (report.differing <= 2, repaired.is_equal) == (True, True), "only planted rows of the third table are left"


def test_loads_that_always_commit_stop_it_before_it_writes(shards, monkeypatch):
    monkeypatch.setattr(shard_resync, "_PAUSES", (0,) * 2)
    shards.sync.run()
    write, before = repair.write_differences, places(shards)
    shards.plant("delete", "s1", id=1)

    def overtaken(*arguments):
        shards.plant("upsert", "s1", id=2, v="foreign", n=0, f=0)
        write(*arguments)

    monkeypatch.setattr(WRITE, overtaken)
    with pytest.raises(PendingInstantError):
        resync(shards, "s1")
    assert places(shards) == before


def test_tables_that_are_not_loaded_or_not_there_are_left_out(shards):
    shards.sync.run()
    shards.run("CREATE TABLE s4 (id INT PRIMARY KEY)", "DROP TABLE s2", "DELETE FROM s3 WHERE id = 1")
    names = frozenset(f"{shards.database}.{name}" for name in ("s3", "s4"))
    report = ShardResync(shards.sync, names).run()
    assert (report.left, report.surplus) == ({f"{shards.database}.s4": "it is not loaded yet"}, 1)


def test_shared_keys_are_read_again_for_all_tables_and_never_while_two_have_one(make):
    shards = make(", global_keys: true")
    shards.run(
        *(f"CREATE TABLE {name} (id INT PRIMARY KEY, v VARCHAR(20))" for name in ("s1", "s2", "s3")),
        *(f"INSERT INTO s{n} SELECT {n}00 + seq, 'x' FROM seq_1_to_20" for n in (1, 2, 3)),
    )
    shards.sync.run()
    before = places(shards)
    shards.run("INSERT INTO s2 VALUES (101, 'moved')")
    with pytest.raises(SourceError, match="share keys"):
        resync(shards, "s3")
    assert places(shards) == before
    shards.run("DELETE FROM s1 WHERE id = 101", "UPDATE s3 SET v = 'y' WHERE id = 301")
    report = resync(shards, "s3")
    assert (len(report.tables), report.is_proof, set(places(shards).values())) == (3, True, {report.position})
    assert set(states(shards).values()) == {"current"}
    assert shards.verify().is_proof


def test_masks_and_a_condition_hold(make):
    shards = filled(make(", masks: {v: mask}, where: id <= 30"))
    shards.sync.run()
    shards.run("UPDATE s1 SET n = 0 WHERE id IN (2, 35)", "UPDATE s2 SET id = 100 WHERE id = 4")
    report = resync(shards, "s1", "s2")
    assert shards.counts(report) == {"s1": (0, 0, 1, 0), "s2": (0, 1, 0, 0)}
    assert set(states(shards).values()) == {"current"}
    assert shards.verify().is_equal
