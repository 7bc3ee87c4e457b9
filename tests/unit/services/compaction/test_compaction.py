"""Compaction: when one is due, what it takes, and that it is resumed, guarded and explained."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, LockHeldError, MissingFileError, PendingInstantError, UnsupportedTableError
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.services.compaction import service
from hoodie.services.compaction.execute import execute_compaction
from hoodie.table import WriteHooks
from hoodie.transaction.locks import found_locks, service_lock
from hoodie.view.access import TableAccess
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.faulty import Killed
from tests.support.locks import NO_WAIT
from tests.support.tables import SMALL_BLOOM, batch, content, create

EVERY = {"hoodie.compact.inline.max.delta.commits": 1}
NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """Two file groups in partition p, one in q, each of one row."""
    made = create(
        tmp_path / "t",
        FakeClock(),
        **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param},
    )
    for rows in ([("a", "p", 1, 1), ("c", "q", 1, 1)], [("b", "p", 1, 1)]):
        made.write(batch(rows), "insert", NO_SMALL_FILES)
    return made


def update(table, *keys, ts=2):
    part = {"a": "p", "b": "p", "c": "q"}
    return table.write(batch([(key, part[key], ts, ts) for key in keys]), "upsert", NO_SMALL_FILES)


def test_due_after_delta_commits(table):
    wanted = {"hoodie.compact.inline.max.delta.commits": 4}
    update(table, "a")
    assert table.schedule(COMPACTION, wanted) is None
    assert "3 delta commits (of 4)" in table.explain(COMPACTION, wanted).reason
    update(table, "a", ts=3)
    time = table.schedule(COMPACTION, wanted)
    assert time is not None
    assert table.schedule(COMPACTION, wanted) is None, "the count begins anew with the plan"
    table.run(COMPACTION)
    assert content(table)["a"] == ("p", 3, 3)
    assert table.explain(COMPACTION, wanted).reason == "no delta commits since the last compaction"


def test_due_after_a_time(table):
    update(table, "a")
    hour = {"hoodie.compact.inline.max.delta.seconds": 3600, "hoodie.compact.inline.max.delta.commits": 100}
    plans = {}
    for trigger in ("TIME_ELAPSED", "NUM_AND_TIME", "NUM_OR_TIME"):
        early = table.explain(COMPACTION, {**hour, "hoodie.compact.inline.trigger.strategy": trigger}).plan
        table.clock.time += timedelta(hours=2)
        late = table.explain(COMPACTION, {**hour, "hoodie.compact.inline.trigger.strategy": trigger}).plan
        table.clock.time -= timedelta(hours=2)
        plans[trigger] = (early is not None, late is not None)
    assert plans == {"TIME_ELAPSED": (False, True), "NUM_AND_TIME": (False, False), "NUM_OR_TIME": (False, True)}


def planned(table, **options):
    decision = table.explain(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1, **options})
    return [(op.partition, len(op.log_files)) for op in decision.plan.operations] if decision.plan else decision.reason


def test_strategies(table):
    for ts, keys in ((2, "abc"), (3, "b"), (4, "b"), (5, "c")):
        update(table, *keys, ts=ts)
    strategy = "hoodie.compaction.strategy"
    assert planned(table) == [("part=p", 3), ("part=q", 2), ("part=p", 1)]
    assert planned(table, **{strategy: "LogFileNumBasedCompactionStrategy"})[0] == ("part=p", 3)
    newest = {strategy: "DayBasedCompactionStrategy", "hoodie.compaction.daybased.target.partitions": 1}
    assert planned(table, **newest) == [("part=q", 2)]
    java = "org.apache.hudi.table.action.compact.strategy.UnBoundedCompactionStrategy"
    assert sorted(planned(table, **{strategy: java})) == [("part=p", 1), ("part=p", 3), ("part=q", 2)]
    assert planned(table, **{"hoodie.compaction.logfile.num.threshold": 3}) == [("part=p", 3)]
    assert "past the thresholds" in planned(table, **{"hoodie.compaction.logfile.size.threshold": 1 << 30})
    with pytest.raises(ConfigError, match="LogFileSizeBasedCompactionStrategy"):
        planned(table, **{strategy: "Fastest"})


def test_the_budget_bounds_a_plan_and_the_backlog_is_told(table, monkeypatch):
    update(table, "a", "b", "c")
    monkeypatch.setattr("hoodie.services.rewrite.plan._MIB", 1)  # a budget in bytes
    decision = table.explain(
        COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1, "hoodie.compaction.target.io": 1}
    )
    assert len(decision.plan.operations) == 1, "one is taken even if it is past the budget"
    assert "2 file groups are left" in decision.reason
    backlog = decision.facts["backlog"]
    assert (backlog["file_groups"], backlog["log_files"], backlog["pending_plans"]) == (3, 3, 0)
    assert backlog["log_bytes"] == sum(log.info.size for s in table.file_slices() for log in s.log_files)
    assert decision.items.bytes > sum(item.facts["bytes_written"] for item in decision.items) > 0


@pytest.mark.format("11f")
def test_groups_of_a_pending_plan_are_not_planned_again(table):
    update(table, "a")
    first = table.schedule(COMPACTION, force=True)
    update(table, "a", "c", ts=3)
    second = table.schedule(COMPACTION, force=True)
    plans = {i.time: i for i in table.timeline.pending}
    assert sorted(plans) == sorted([first, second])
    table.run(COMPACTION, time=second)
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 1, 1), "c": ("q", 3, 3)}
    table.run(COMPACTION)
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 1, 1), "c": ("q", 3, 3)}
    assert table.timeline.pending == ()


def test_only_one_process_executes_a_plan(table):
    update(table, "a")
    time = table.schedule(COMPACTION, force=True)
    with (
        service_lock(table.storage, table.clock, f"compaction-{time}", NO_WAIT),
        pytest.raises(LockHeldError, match=f"compaction-{time}"),
    ):
        table.run(COMPACTION, {"hoodie.write.lock.wait_time_ms": 0}, time=time)
    table.run(COMPACTION, time=time)
    with pytest.raises(PendingInstantError, match=time):
        table.run(COMPACTION, time=time)


def test_a_missing_file_of_the_plan_is_named(table):
    update(table, "a")
    time = table.schedule(COMPACTION, force=True)
    (log,) = [log for s in table.file_slices() for log in s.log_files]
    content_of_log = table.storage.read(log.path)
    table.storage.delete(log.path)
    with pytest.raises(MissingFileError, match="compaction plan"):
        table.run(COMPACTION, time=time)
    table.storage.create(log.path, content_of_log)
    table.run(COMPACTION, time=time)
    assert content(table)["a"] == ("p", 2, 2)


def test_copy_on_write_has_nothing_to_compact(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    with pytest.raises(UnsupportedTableError, match="COPY_ON_WRITE"):
        table.schedule(COMPACTION)


@pytest.mark.format("11h")
def test_a_write_does_not_grow_a_group_that_waits(table):
    """Rewriting its base file would leave the logs of the plan behind."""
    update(table, "a")
    time = table.schedule(COMPACTION, force=True)
    table.write(batch([("n", "p", 1, 1), ("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    execute_compaction(table.access, time, SMALL_BLOOM)
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 1, 1), "c": ("q", 1, 1), "n": ("p", 1, 1)}
    assert isinstance(table, HoodieTable)


def test_a_metadata_table_that_another_writer_made_meanwhile_is_switched_off(table):
    """It does not know the new base files: its readers would see the slices without them."""
    from hoodie.config.properties.store import update_properties

    update(table, "a")
    time = table.schedule(COMPACTION, force=True)
    made = table.properties.with_values({"hoodie.table.metadata.partitions": "files"})
    update_properties(table.storage, made)
    table.storage.create(".hoodie/metadata/x", b"")
    table.run(COMPACTION)
    assert not HoodieTable.open(table.base_path).properties.has_metadata_table
    assert table.storage.info(".hoodie/metadata/x") is None
    assert time in HoodieTable.open(table.base_path).state().timeline.commit_times
    assert content(table)["a"] == ("p", 2, 2)


def test_files_that_another_process_has_committed_stay(table, monkeypatch):
    update(table, "a", "c")
    time = table.schedule(COMPACTION, force=True)
    monkeypatch.setattr("hoodie.transaction.concurrency.service_lock", lambda *_: nullcontext())
    slow = HoodieTable.open(table.base_path, engine=LocalEngine(1), clock=table.clock)

    class Overtaken(LocalEngine):
        def map(self, function, tasks, sizes=()):
            results = super().map(function, tasks)
            execute_compaction(table.access, time, {})
            return results

    with pytest.raises(PendingInstantError):
        execute_compaction(TableAccess(slow.storage, slow.clock, Overtaken(1)), time, {})
    assert {key: row[1] for key, row in content(table).items()} == {"a": 2, "b": 1, "c": 2}
    committed = next(i for i in table.timeline.commits if i.time == time)
    kept = {stat.path for stat in table.state().commit_metadata(committed).stats}
    assert {base.base_file.path for base in table.file_slices() if base.base_instant == time} == kept


def test_work_that_is_complete_does_not_fail_for_its_markers(table, monkeypatch, caplog):
    def throttled(self, folder):
        raise OSError("slow down")

    monkeypatch.setattr(type(table.storage), "delete_folder", throttled)
    update(table, "a")
    assert content(table)["a"] == ("p", 2, 2)
    table.schedule(COMPACTION, force=True)
    monkeypatch.undo()
    monkeypatch.setattr("hoodie.transaction.reconcile.delete_markers", lambda *_: throttled(None, ""))
    table.run(COMPACTION)
    assert "could not be deleted: slow down" in caplog.text


def test_nothing_due_waits_for_no_lock(table):
    from hoodie.transaction.locks import table_lock

    with table_lock(table.storage, table.clock, "a long write", NO_WAIT):
        assert table.schedule(COMPACTION, {"hoodie.write.lock.wait_time_ms": 0}) is None


def test_what_a_killed_attempt_had_not_finished_is_deleted(table):
    """Such files are in no listing: only the markers name them."""
    update(table, "a")
    time = table.schedule(COMPACTION, force=True)
    path = f"part=p/00000000-0000-0000-0000-000000000000-0_0-1-1_{time}.parquet"
    DirectMarkers(table.storage, time).create(path, MarkerType.CREATE)
    with table.storage.open_output(path) as sink:
        sink.write(b"half")
        sink.flush()
        unfinished = [file for file in Path(table.base_path).rglob(".tmp-*") if file.read_bytes() == b"half"]
        kept = unfinished[0].with_name("kept")
        kept.hardlink_to(unfinished[0])
    table.storage.delete(path)
    kept.rename(unfinished[0])  # as it was when the attempt was killed
    assert list(Path(table.base_path).rglob(".tmp-*"))
    table.run(COMPACTION, SMALL_BLOOM, time=time)
    assert not list(Path(table.base_path).rglob(".tmp-*"))


def test_carrying_out_a_plan_lists_its_partitions_three_times(table):
    """Once for what the plan says is there, and before and after its work for what other attempts have left."""
    update(table, "a", "c")
    table.schedule(COMPACTION, force=True)
    seen = HoodieTable(CountingStorage(table.base_path), table.engine, table.clock)
    seen.run(COMPACTION, SMALL_BLOOM)
    assert sorted(folder for folder in seen.storage.listed if not folder.startswith(".hoodie")) == [
        *["part=p"] * 3,
        *["part=q"] * 3,
    ]


def test_what_a_killed_writer_left_is_no_reason_to_wait(table):
    """It is taken back before the plan is made; a writer at work has a heartbeat, and in version 6 its groups wait."""
    update(table, "a", "b", "c")
    rows = batch([("a", "p", 3, 3), ("b", "p", 3, 3), ("c", "q", 3, 3)])
    with pytest.raises(Killed):
        table.write(rows, "upsert", NO_SMALL_FILES, hooks=WriteHooks(before_commit=_die))
    shared = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
    [writer] = table.timeline.pending
    table.storage.create(f".hoodie/.heartbeat/{writer.time}", b"")
    now, beat = table.clock.time, table.storage.info(f".hoodie/.heartbeat/{writer.time}").modified_ms
    table.clock.time = now.fromtimestamp(beat / 1000, now.tzinfo)  # the heartbeat has the time of this machine
    planned = table.explain(COMPACTION, {**shared, **EVERY}).plan
    assert (planned is None) == (table.properties.version == 6)
    table.storage.delete(f".hoodie/.heartbeat/{writer.time}")
    table.clock.time = now
    assert table.schedule(COMPACTION, EVERY) is not None


def test_a_writer_that_dies_while_a_plan_is_made(table, monkeypatch):
    """It lived when what dead ones left was taken back: its logs are there, and a plan with them could never be carried out."""
    update(table, "a", "b", "c")
    with pytest.raises(Killed):
        table.write(batch([("a", "p", 3, 3)]), "upsert", NO_SMALL_FILES, hooks=WriteHooks(before_commit=_die))
    shared = {**EVERY, "hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
    [writer] = table.timeline.pending
    table.storage.create(f".hoodie/.heartbeat/{writer.time}", b"")
    now, beat = table.clock.time, table.storage.info(f".hoodie/.heartbeat/{writer.time}").modified_ms

    def decide(state, options, clock, **asked):
        lives = any(lock.path == ".hoodie/lock" for lock in found_locks(table.storage, table.clock))
        if lives:  # repaired by now
            clock.time = now.fromtimestamp(beat / 1000 + 3600, now.tzinfo)
        return real(state, options, clock, **asked)

    real = service.decide_compaction
    monkeypatch.setattr(service, "decide_compaction", decide)
    table.clock.time = now.fromtimestamp(beat / 1000, now.tzinfo)
    time = table.schedule(COMPACTION, {**shared, **NO_SMALL_FILES}, force=True)
    assert (time is None) == (table.properties.version == 6)
    monkeypatch.setattr(service, "decide_compaction", real)
    table.clock.time = now.fromtimestamp(beat / 1000 + 7200, now.tzinfo)
    if time is None:
        assert table.schedule(COMPACTION, shared) is not None
    table.run(COMPACTION, shared)
    assert content(table)["a"] == ("p", 2, 2)


def _die():
    raise Killed("before the commit")
