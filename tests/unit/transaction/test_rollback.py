"""Rollbacks that Hudi has begun: plans outlive them, living writers alone."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from hoodie import COMPACTION
from hoodie.errors import PendingInstantError
from hoodie.formats import avro_file
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.model.files import LogFile
from hoodie.model.rollback import RollbackPlan
from hoodie.storage import LocalStorage
from hoodie.storage.base import FileInfo
from hoodie.timeline import Action, State
from hoodie.timeline.codecs.rollback import encode_rollback_plan
from hoodie.transaction import instants
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.rollback import plan_rollbacks, roll_back_now, rollback_failed_writes
from hoodie.view.files import PartitionFiles
from tests.support.clock import FakeClock
from tests.support.made_states import base_file, done, log_file, state_of, wrote
from tests.support.made_states import pending as unfinished
from tests.support.tables import SMALL_BLOOM, batch, content, create

LATER = "20260601000000000"


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    made = create(tmp_path / "t", FakeClock(), **options)
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    made.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    return made


def pending(table):
    return {(instant.time, instant.action, instant.state) for instant in table.state().timeline.pending}


def test_a_compaction_whose_attempt_is_rolled_back_is_still_planned(table):
    time = table.schedule(COMPACTION, force=True)
    table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    state = table.state()
    instants.start(state, next(i for i in state.timeline.pending if i.time == time))
    body = encode_rollback_plan(RollbackPlan(time, "compaction", {}), table.base_path)
    instants.request(state, LATER, Action.ROLLBACK, body)
    table.write(batch([("b", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert pending(table) == {(time, Action.COMPACTION, State.REQUESTED)}
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 4, 4)}
    table.run(COMPACTION)
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 4, 4)}
    assert pending(table) == set()


def test_a_living_overwrite_is_not_rolled_back_and_a_dead_one_is(table):
    """In version 6 its request is empty, or a record without the plan of a clustering."""
    clock = table.clock
    clock.time = clock.time.replace(year=2040)  # after the heartbeat, which has this machine's time
    instants.start(table.state(), instants.request(table.state(), LATER, Action.REPLACE_COMMIT))
    beat = f".hoodie/.heartbeat/{LATER}"
    table.storage.create(beat, b"")
    now = clock.time
    clock.time = clock.time.fromtimestamp(table.storage.info(beat).modified_ms / 1000 + 10, clock.time.tzinfo)
    with pytest.raises(PendingInstantError, match="Another writer is at work"):
        table.write(batch([("b", "p", 4, 4)]), "insert", SMALL_BLOOM)
    clock.time = now
    table.write(batch([("b", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert pending(table) == set()
    assert set(content(table)) == {"a", "b"}


@pytest.mark.parametrize("name", ["a-0", "a/0"], ids=["a plan", "a plan that no service may carry out"])
@pytest.mark.parametrize("torn", [False, True], ids=["whole", "torn"])
def test_what_may_be_the_plan_of_a_clustering_is_not_rolled_back(tmp_path, name, torn):
    """In version 6 the plan is in a replacecommit, which other operations request too."""
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": "6"})
    groups = [{"slices": [{"partitionPath": "part=q", "fileId": name}]}]
    plan = avro_file.encode("HoodieRequestedReplaceMetadata", {"clusteringPlan": {"inputGroups": groups}})
    state = made.state()
    requested = instants.request(state, LATER, Action.REPLACE_COMMIT, plan[: len(plan) // 2] if torn else plan)
    rollback_failed_writes(state.reloaded(), made.clock)
    assert pending(made) == {(requested.time, Action.REPLACE_COMMIT, State.REQUESTED)}


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_file_that_is_finished_while_its_write_is_rolled_back_is_deleted(tmp_path, kind, version):
    """Its writer, which was stopped for long, looks before the inflight file goes, and after the rollback was planned."""
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    made.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    state = made.state()
    failed = instants.start(
        state, instants.request(state, LATER, Action.COMMIT if kind[0] == "C" else Action.DELTA_COMMIT)
    )
    late = f"part=p/{uuid.uuid4()}-0_0-0-0_{LATER}.parquet"

    class Meanwhile(LocalStorage):
        def delete(self, path):
            if path == state.layout.inflight_path(LATER, failed.action):
                DirectMarkers(made.storage, LATER).create(late, MarkerType.CREATE)
                made.storage.create(late, b"PAR1")
            return super().delete(path)

    roll_back_now(Meanwhile(made.base_path), made.clock, ConcurrencyOptions())
    assert not list((tmp_path / "t").rglob(f"*{LATER}*.parquet"))
    assert pending(made) == set()


@pytest.mark.parametrize(("version", "logs"), [("9", ["p/.f_20.log.1_0-0-0"]), ("6", [])])
def test_files_that_no_marker_names_are_found_by_their_names(tmp_path, version, logs):
    """Logs of version 6 have the instant of their slice there, but for those of changes."""
    state = state_of(version, {done("10", "11"): wrote()}, [unfinished("20")], LocalStorage(str(tmp_path)))
    cdc = LogFile("p", "f", "20", 1, True, FileInfo("p/.f_20.log.1_0-0-0.cdc", 1, 0))
    listing = PartitionFiles(
        "p", (base_file("10"), base_file("20")), (log_file("10"), log_file("20"), cdc), has_metafile=True
    )
    (plan,) = plan_rollbacks(state, state.timeline.pending, [listing])
    assert plan.files == {"p": (*logs, cdc.path, base_file("20").path)}


def test_a_commit_names_its_files_of_changes(tmp_path):
    base, cdc = base_file("20"), "p/.f_20.log.1_0-0-0.cdc"
    body = wrote(base)
    body = replace(body, stats=(replace(body.stats[0], cdc_stats={cdc: 1}),))
    state = state_of("9", {done("20", "21"): body}, storage=LocalStorage(str(tmp_path)))
    (plan,) = plan_rollbacks(state, state.timeline.commits, [])
    assert plan.files == {"p": (cdc, base.path)}


def test_a_write_whose_rollback_was_cut_short_is_rolled_back_once(table):
    state = table.state()
    instants.start(state, instants.request(state, LATER, Action.COMMIT))
    body = encode_rollback_plan(RollbackPlan(LATER, "commit", {}), table.base_path)
    instants.request(state, "20260601000000001", Action.ROLLBACK, body)
    assert len(rollback_failed_writes(table.state(), table.clock)) == 1
    assert len(table.timeline.completed(Action.ROLLBACK)) == 1
    assert pending(table) == set()
