"""Partitions that have outlived their time: their choice, and the fate of rows that are written in between."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hoodie import CLEAN, COMPACTION, TTL, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, DeleteCapError, MissingFileError, PlanChangedError
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.services.ttl.service import Ttl
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.sources import TABLE, hive_source
from tests.support.tables import SMALL_BLOOM, batch, content, create

DAYS = "hoodie.partition.ttl.strategy.days.retain"
CREATED = {"hoodie.partition.ttl.management.strategy.type": "KEEP_BY_CREATION_TIME"}
APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path, version, templates):
    """Partition `a` is 40 days old, `b` was made then and written 10 days ago, `c` is of today."""
    options = {"hoodie.write.table.version": version, "hoodie.table.type": request.param}
    return templates.filled(create(tmp_path / "t", FakeClock(), **options), _fill)


def _fill(made):
    clock = made.clock
    made.write(batch([("1", "a", 1, 1), ("2", "b", 1, 1)]), "insert", APART)
    clock.time += timedelta(days=30)
    made.write(batch([("2", "b", 2, 2)]), "upsert", APART)  # to a log, where there are such
    clock.time += timedelta(days=10)
    made.write(batch([("3", "c", 1, 1)]), "insert", APART)


def keep(days, **options):
    return {DAYS: days, **options}


def left(table):
    return "".join(sorted(row[0] for row in content(table).values()))


def test_days_count_from_the_last_write(table):
    decision = table.explain(TTL, keep(20))
    assert decision.plan.partitions == ["part=a"]
    assert "1 partition of 3 outlived 20 days since the last write" in decision.as_text("ttl")
    before, since = content(table), table.timeline.commits[-1].time
    done = table.run(TTL, keep(20))
    assert left(table) == "bc"
    commit = done.commit
    assert commit.instant.action is Action.REPLACE_COMMIT
    assert commit.metadata.operation == "DELETE_PARTITION"
    assert commit.metadata.extra["hoodie.partition.ttl.expired"] == "20 days since the last write"
    assert content(table, as_of=since) == before
    assert TTL.report(done) == (
        "1 partition dropped; 1 partition of 3 outlived 20 days since the last write",
        commit.instant.time,
    )
    again = table.run(TTL, keep(20))
    assert again.commit is None
    assert "nothing to do: 0 partitions of 2" in TTL.report(again)[0]
    assert len(table.timeline.commits) == 4


def test_days_count_from_the_creation(table):
    assert table.explain(TTL, keep(20, **CREATED)).plan.partitions == ["part=a", "part=b"]
    table.run(TTL, keep(20, **CREATED))
    assert left(table) == "c"


def test_a_plan_is_another_when_rows_change_and_bytes_do_not(tmp_path):
    """The person who agreed to drop the partition has not seen the rows that were written since."""
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    sized = {**APART, "hoodie.parquet.compression.codec": "uncompressed"}
    table.write(batch([("1", "a", 1, 1)]), "insert", sized)
    clock.time += timedelta(days=30)
    seen = now = table.explain(TTL, keep(20, **CREATED))
    for ts in range(2, 12):  # the number of a task in the file's name may get one more digit
        table.write(batch([("1", "a", ts, ts)]), "upsert", sized)
        seen, now = now, table.explain(TTL, keep(20, **CREATED))
        if now.items.bytes == seen.items.bytes:
            break
    assert (now.items.bytes, now.plan.partitions) == (seen.items.bytes, ["part=a"])
    assert now.digest != seen.digest
    with pytest.raises(PlanChangedError):
        table.run(Ttl(only=seen.digest), keep(20, **CREATED))
    assert left(table) == "a"
    table.run(Ttl(only=now.digest), keep(20, **CREATED))
    assert left(table) == ""


def test_some_at_a_time_the_oldest_first(table):
    one = {"hoodie.partition.ttl.strategy.max.delete.partitions": 1, **CREATED}
    decision = table.explain(TTL, keep(20, **one))
    assert decision.plan.partitions == ["part=a"]
    assert "1 more wait for later runs" in decision.as_text("ttl")
    selected = {"hoodie.partition.ttl.strategy.partition.selected": "./part=b/,part=z", **CREATED}
    decision = table.explain(TTL, keep(20, **selected))
    assert decision.plan.partitions == ["part=b"]
    assert "there is no partition 'part=z'" in decision.as_text("ttl")


@pytest.mark.parametrize("days", [None, -1, 0, 400])
def test_nothing_is_old_enough(table, days):
    assert table.explain(TTL, {} if days is None else keep(days)).plan is None
    assert table.run(TTL, {} if days is None else keep(days)).commit is None
    assert left(table) == "abc"


def test_what_cannot_be_is_refused(table):
    with pytest.raises(ConfigError, match="whole number"):
        table.run(TTL, keep("forever"))
    with pytest.raises(ConfigError, match="KEEP_BY_CREATION_TIME"):
        table.run(TTL, keep(20, **{"hoodie.partition.ttl.management.strategy.type": "NEVER"}))
    with pytest.raises(ConfigError, match="own cannot run here"):
        table.run(TTL, keep(20, **{"hoodie.partition.ttl.strategy.class": "my.Strategy"}))


def test_more_than_a_run_may_asks(table):
    caps = {"hoodie.delete.max.share": "0.1"}
    with pytest.raises(DeleteCapError, match="of the table's") as refused:
        table.run(TTL, keep(20, **caps))
    assert left(table) == "abc"
    assert table.timeline.pending == ()
    table.run(Ttl(refused.value.digest), keep(20, **caps))
    assert left(table) == "bc"


def test_a_partition_that_was_written_meanwhile_stays(table, monkeypatch):
    """A decision without the lock is made again under it."""
    decide, written = Ttl.decide, []

    def slowly(self, state, options, clock):
        decision = decide(self, state, options, clock)
        if not written:
            written.append(table.write(batch([("n", "a", 9, 9)]), "insert", APART))
        return decision

    monkeypatch.setattr(Ttl, "decide", slowly)
    assert table.run(TTL, keep(20)).commit is None
    assert left(table) == "aabc"
    assert table.timeline.pending == ()


def test_a_partition_for_which_a_compaction_waits_is_left_for_later(tmp_path, version):
    clock = FakeClock()
    options = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    table = create(tmp_path / "t", clock, **options)
    table.write(batch([("1", "a", 1, 1), ("2", "b", 1, 1)]), "insert", APART)
    table.write(batch([("1", "a", 2, 2)]), "upsert", APART)
    time = table.schedule(COMPACTION, force=True)
    clock.time += timedelta(days=40)
    decision = table.explain(TTL, keep(20, **CREATED))
    assert decision.plan.partitions == ["part=b"]
    assert f"compaction {time}" in decision.as_text("ttl")
    table.run(TTL, keep(20, **CREATED))
    assert left(table) == "a"
    table.run(COMPACTION)
    table.run(TTL, keep(20, **CREATED))
    assert left(table) == ""


def test_a_partition_that_lost_its_newest_file_is_not_taken_for_old(table):
    (newest,) = [each for each in table.file_slices() if each.partition == "part=b"]
    table.storage.delete(newest.paths[-1])
    with pytest.raises(MissingFileError):
        table.run(TTL, keep(20))


def test_instants_of_a_bootstrap_are_no_dates(tmp_path):
    """By its instant, 00000000000001, a bootstrapped table would have outlived every number of days."""
    clock = FakeClock()
    hive_source(tmp_path / "source")
    asked = {"hoodie.bootstrap.base.path": str(tmp_path / "source"), **SMALL_BLOOM}
    run_bootstrap(BootstrapRequest(str(tmp_path / "t"), TABLE, asked), clock, LocalEngine(1))
    table = HoodieTable.open(str(tmp_path / "t"), clock=clock)
    for options in ({}, CREATED):
        assert table.explain(TTL, keep(20, **options)).plan is None, options


def test_it_follows_a_write_where_that_asks_for_it(table):
    options = {**APART, "hoodie.partition.ttl.inline": "true", DAYS: 20}
    result = table.write(batch([("4", "d", 1, 1)]), "insert", options)
    (outcome,) = result.services
    assert outcome.service == "ttl"
    assert "1 partition dropped" in outcome.message
    assert left(table) == "bcd"
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert left(table) == "bcd"
