"""The cleaner: what each policy keeps, what a plan looks at, and what it refuses."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.errors import ConfigError, HoodieError, UnsafeDeleteError
from hoodie.formats import avro_file
from hoodie.model.commit import CommitMetadata
from hoodie.services.clean.plan import SAVEPOINTS
from hoodie.storage import walk_files
from hoodie.timeline import Action, Instant, State
from hoodie.timeline.codecs.clean import encode_clean_plan
from hoodie.transaction import instants
from hoodie.transaction.guard import delete_data_file, relative_path
from hoodie.transaction.instant_generator import new_time
from hoodie.write.execute import WriteHooks
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path, clock):
    return create(tmp_path / "t", clock, **{"hoodie.write.table.version": request.param})


def upsert(table, *entries, hooks=None):
    instant = table.write(batch(entries), "upsert", SMALL_BLOOM, hooks=hooks).instant
    if table.version == 6:  # there the file's own time is the completion, and it is not the test's clock that sets it
        now = table.clock.time.timestamp()
        os.utime(Path(table.base_path) / ".hoodie" / instant.file_name, (now, now))
    return instant.time


def tree(path):
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in Path(path).rglob("*") if p.is_file()}


def instants_of(table, partition):
    files = table.storage.list(partition).files
    return sorted(
        file.name.rpartition("_")[2].removesuffix(".parquet") for file in files if file.name.endswith(".parquet")
    )


@pytest.mark.format("11b")
def test_keep_latest_commits(table):
    times = [upsert(table, ("a", "p", step, step)) for step in range(5)]
    run = table.run(CLEAN, {"hoodie.clean.commits.retained": 2})
    # The two retained commits, and the slice that was current when the first of them began.
    assert instants_of(table, "part=p") == times[2:]
    assert run.files_deleted == 2
    assert content(table) == {"a": ("p", 4, 4)}
    assert content(table, as_of=times[3]) == {"a": ("p", 3, 3)}


def test_the_old_name_of_an_option_counts_too(table):
    for step in range(4):
        upsert(table, ("a", "p", step, step))
    found = table.explain(CLEAN, {"hoodie.cleaner.commits.retained": "1"})
    assert len(found.plan.files) == 2
    assert found.reason.endswith("the last 1 commit is retained")
    with pytest.raises(ConfigError, match="contradict each other"):
        table.explain(CLEAN, {"hoodie.cleaner.commits.retained": 1, "hoodie.clean.commits.retained": 2})


def test_keep_latest_file_versions(table):
    times = [upsert(table, ("a", "p", step, step)) for step in range(5)]
    options = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 2}
    assert table.run(CLEAN, options).files_deleted == 3
    assert instants_of(table, "part=p") == times[3:]
    times.append(upsert(table, ("a", "p", 9, 9)))
    assert table.run(CLEAN, options).files_deleted == 1
    assert instants_of(table, "part=p") == times[4:]


def test_hours_count_from_the_commit_that_superseded_a_slice(table, clock):
    """A slice that was current until an hour ago stays for a query that began then, however old it is itself."""
    old = upsert(table, ("a", "p", 1, 1))
    clock.sleep(100 * 3600)
    new = upsert(table, ("a", "p", 2, 2))
    clock.sleep(3600)
    options = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": 12}
    assert table.run(CLEAN, options).files_deleted == 0
    assert instants_of(table, "part=p") == [old, new]
    clock.sleep(12 * 3600)
    newest = upsert(table, ("b", "q", 2, 2))
    clock.sleep(60)
    assert table.run(CLEAN, options).files_deleted == 1
    assert instants_of(table, "part=p") == [new]
    assert content(table, as_of=newest) == {"a": ("p", 2, 2), "b": ("q", 2, 2)}


def test_hours_count_from_the_completion_of_a_long_write(table, clock):
    """A write of 30 h: until its end queries read what it superseded, and those that began then go on."""
    hours = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": 24}
    old = upsert(table, ("a", "p", 1, 1))
    clock.sleep(100 * 3600)
    long = upsert(table, ("a", "p", 2, 2), hooks=WriteHooks(before_commit=lambda: clock.sleep(30 * 3600) or {}))
    clock.sleep(60)
    upsert(table, ("b", "q", 2, 2))  # begun within the 24 h
    assert table.run(CLEAN, hours).files_deleted == 0
    assert instants_of(table, "part=p") == [old, long]
    clock.sleep(23 * 3600)
    upsert(table, ("b", "q", 3, 3))
    assert table.run(CLEAN, hours).files_deleted == 0
    clock.sleep(2 * 3600)
    upsert(table, ("b", "q", 4, 4))
    assert table.run(CLEAN, hours).files_deleted
    assert instants_of(table, "part=p") == [long]
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 4, 4)}


@pytest.mark.parametrize("hours", [20_000_000, 10**15])
def test_more_hours_than_there_are_years_keep_everything(table, clock, hours):
    for step in range(3):
        upsert(table, ("a", "p", step, step))
        clock.sleep(1e6)
    run = table.run(CLEAN, {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": hours})
    assert run.files_deleted == 0


def test_explain_changes_nothing_and_the_run_does_what_it_said(table, tmp_path):
    for step in range(5):
        upsert(table, ("a", "p", step, step), ("b", "q", step, step))
    before = tree(tmp_path)
    plan = table.explain(CLEAN, {"hoodie.clean.commits.retained": 1}).plan
    assert tree(tmp_path) == before
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    gone = {path for path in before if path not in tree(tmp_path)}
    assert gone == {str(tmp_path / "t" / file.path) for file in plan.files}
    assert plan.bytes == sum(file.size for file in plan.files) > 0
    assert all("superseded by" in file.reason for file in plan.files)


def test_only_partitions_that_changed_are_listed(tmp_path, clock):
    """Planning looks at what changed since the last clean, also when that clean found nothing to remove."""
    table = create(tmp_path / "t", clock)
    everywhere = [(f"k{n}", f"p{n:03d}", 1, 1) for n in range(120)]
    upsert(table, *everywhere)
    upsert(table, ("k1", "p001", 2, 2))
    options = {"hoodie.clean.commits.retained": 1}
    first = table.run(CLEAN, options)
    assert first.decision.facts["partitions_listed"] == 120
    assert first.files_deleted == 0
    for step in range(3, 6):
        upsert(table, (f"k{step}", f"p{step:03d}", step, step))
    second = table.run(CLEAN, options)
    # k1's commit and two of the three later ones lie before the earliest retained one.
    assert second.decision.facts["partitions_listed"] == 3
    assert second.files_deleted == 3
    third = table.explain(CLEAN, options)
    assert third.plan is None
    assert "nothing became removable since the last clean" in third.reason


def test_why_nothing_is_done(table):
    assert "no commits" in table.explain(CLEAN).reason
    upsert(table, ("a", "p", 1, 1))
    assert table.explain(CLEAN).reason == "1 commit on the timeline, and 10 are retained"


def test_a_pending_instant_holds_the_cleaner_back_and_is_named(table, clock):
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    state = table.state()
    stuck = instants.request(
        state, "20260101000000500", Action.CLUSTERING if table.version == 9 else Action.REPLACE_COMMIT, b""
    )
    for step in range(3, 6):
        upsert_without_rollback(table, step)
    decision = table.explain(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert stuck.time in decision.reason
    assert "held back by pending" in decision.reason


def upsert_without_rollback(table, step):
    """A commit beside a pending instant: `write` would roll an empty replacecommit of version 6 back."""
    state = table.state()
    time = f"2026010100000{step}900"
    instant = instants.start(state, instants.request(state, time, Action.COMMIT))
    body = state.layout.encode_commit(CommitMetadata("UPSERT", extra={"schema": "{}"}), replace=False)
    instants.complete(state, instant, body, table.clock)


@pytest.mark.format("11d")
def test_replaced_groups_go_when_their_replacement_is_older_than_what_is_retained(table):
    upsert(table, ("a", "p", 1, 1))
    slices = table.file_slices()
    new = table.write(batch([("a", "p", 2, 2)]), "bulk_insert", SMALL_BLOOM)
    as_replace(table, new.instant, {"part=p": (slices[0].file_id,)})
    assert content(table) == {"a": ("p", 2, 2)}
    options = {"hoodie.clean.commits.retained": 1}
    assert table.run(CLEAN, options).files_deleted == 0
    last = upsert(table, ("b", "q", 1, 1))
    assert table.run(CLEAN, options).files_deleted == 1
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}
    assert content(table, as_of=last) == content(table)


def as_replace(table, instant: Instant, replaced):
    """Turn a commit into the replacecommit that Hudi's insert_overwrite would have left."""
    state = table.state()
    metadata = state.commit_metadata(next(i for i in state.timeline if i.time == instant.time))
    for file in table.storage.list(state.layout.folder).files:
        if file.name.startswith(instant.time):
            table.storage.delete(file.path)
    body = state.layout.encode_commit(
        CommitMetadata("INSERT_OVERWRITE", metadata.stats, metadata.extra, replaced), replace=True
    )
    started = instants.start(state, instants.request(state, instant.time, Action.REPLACE_COMMIT))
    instants.complete(state, started, body, table.clock)


@pytest.mark.format("11c", "11m")
def test_savepoints_keep_their_files_and_a_deleted_one_gives_them_free(table):
    times = [upsert(table, ("a", "p", step, step)) for step in range(3)]
    kept = [file.name for file in table.storage.list("part=p").files if times[0] in file.name]
    state = table.state()
    record = {
        "savepointedBy": "somebody",
        "savepointedAt": 1,
        "comments": "",
        "partitionMetadata": {"part=p": {"partitionPath": "part=p", "savepointDataFile": kept}},
        "version": 1,
    }
    started = instants.start(state, Instant(times[0], Action.SAVEPOINT, State.INFLIGHT))
    done = instants.complete(state, started, avro_file.encode("HoodieSavepointMetadata", record), table.clock)
    options = {"hoodie.clean.commits.retained": 1}
    run = table.run(CLEAN, options)
    assert run.files_deleted == 0
    assert run.results[0].extra[SAVEPOINTS] == times[0]
    for name in (done.file_name, started.file_name):
        table.storage.delete(f"{state.layout.folder}/{name}")
    upsert(table, ("z", "q", 9, 9))
    assert "savepoint" in table.explain(CLEAN, options).reason
    assert table.run(CLEAN, options).files_deleted == 2


def test_a_file_that_is_gone_already_is_a_success(table):
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    options = {"hoodie.clean.commits.retained": 1}
    victim = table.explain(CLEAN, options).plan.files[0].path
    state = table.state()
    from hoodie.timeline.codecs.clean import encode_clean_plan

    plan = table.explain(CLEAN, options).plan
    instants.request(state, "20260101000009000", Action.CLEAN, encode_clean_plan(plan, table.base_path))
    table.storage.delete(victim)
    run = table.run(CLEAN, options)
    assert len(run.results) == 1
    assert run.results[0].deleted == {"part=p": (victim.rpartition("/")[2],)}


@pytest.mark.format("11e")
def test_an_interrupted_clean_does_not_delete_what_a_restore_has_made_current_again(table, clock):
    upsert(table, ("a", "p", 1, 1))
    taken_back = [upsert(table, ("a", "p", step, step)) for step in (2, 3)]
    state, plan = table.state(), table.explain(CLEAN, {"hoodie.clean.commits.retained": 1}).plan
    path = instants.request(
        state, new_time(state, clock), Action.CLEAN, encode_clean_plan(plan, table.base_path)
    ).file_name
    for file in walk_files(table.storage, ""):
        if any(time in file.name for time in taken_back):  # what Hudi's restore to the first commit deletes
            table.storage.delete(file.path)
    with pytest.raises(UnsafeDeleteError, match=path):
        table.run(CLEAN)
    assert content(table) == {"a": ("p", 1, 1)}
    table.storage.delete(f"{state.layout.folder}/{path}")
    assert table.run(CLEAN).files_deleted == 0
    assert content(table) == {"a": ("p", 1, 1)}


def test_a_file_that_cannot_be_deleted_leaves_the_clean_pending(table, monkeypatch):
    for step in range(3):
        upsert(table, ("a", "p", step, step))

    def refuse(self, path):
        if path.endswith(".parquet"):
            raise PermissionError(13, "Permission denied", path)
        return real(self, path)

    real = type(table.storage).delete
    monkeypatch.setattr(type(table.storage), "delete", refuse)
    with pytest.raises(HoodieError, match="could not delete 1 of 1 files"):
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    monkeypatch.undo()
    assert [instant.action for instant in table.timeline.pending] == [Action.CLEAN]
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted == 1


@pytest.mark.parametrize(
    "path",
    ["", "part=p", "../other/f-0_0-0-0_20260101000000000.parquet", "/etc/passwd", ".hoodie/hoodie.properties", "part=p/notes.txt",
     ".hoodie/f-0_0-0-0_20260101000000000.parquet", "part=p//f-0_0-0-0_20260101000000000.parquet"],
)  # fmt: skip
def test_the_guard(table, path):
    with pytest.raises(UnsafeDeleteError):
        delete_data_file(table.storage, path, {path})


def test_the_guard_wants_the_file_in_the_plan(table):
    upsert(table, ("a", "p", 1, 1))
    path = table.file_slices()[0].base_file.path
    with pytest.raises(UnsafeDeleteError, match="the plan does not name it"):
        delete_data_file(table.storage, path, set())
    assert content(table) == {"a": ("p", 1, 1)}


def test_paths_of_plans(tmp_path):
    (tmp_path / "trips").mkdir()
    (tmp_path / "link").symlink_to("trips")
    for base, path in (
        (f"{tmp_path}/link", f"{tmp_path}/trips/p/f"),
        (f"{tmp_path}/trips", f"file:{tmp_path}/x/../link/p/f"),
    ):
        assert relative_path(base, path) == "p/f"
    base = "/lake/trips"
    for path in ("/lake/trips/p/f", "file:/lake/trips/p/f", "file:///lake/trips/p/f", "p/f"):
        assert relative_path(base, path) == "p/f"
    assert relative_path("s3://lake/trips", "s3a://lake/trips/p/f") == "p/f"
    for path in ("/lake/trips2/p/f", "file:/etc/passwd", "s3://other/p/f"):
        with pytest.raises(UnsafeDeleteError):
            relative_path(base, path)


@pytest.mark.parametrize("missing", [KeyError("uid not found"), OSError("no user name"), ImportError("pwd")])
def test_a_user_without_a_name_cleans_too(table, monkeypatch, missing):
    """Containers run with numbers that no file of users knows."""
    for step in range(3):
        upsert(table, ("a", "p", step, step))

    def nameless():
        raise missing

    monkeypatch.setattr("getpass.getuser", nameless)
    (result,) = table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).results
    assert result.extra["cleaned_by"].startswith(f"{os.getuid()}@")
    assert table.timeline.pending == ()


def test_the_audit_of_a_clean(table):
    """The timeline has the files that a clean removed, their bytes, and the user that ran it."""
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    result = table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).results[0]
    from hoodie.services.clean.plan import last_clean

    stored = last_clean(table.state())
    assert stored.deleted == result.deleted
    assert int(stored.extra["bytes_deleted"]) > 0
    assert "@" in stored.extra["cleaned_by"]
    assert not [file for file in walk_files(table.storage, "") if file.name in result.deleted["part=p"]]


@pytest.mark.parametrize("incremental", [True, False])
def test_planning_lists_each_partition_once(table, incremental):
    for step in range(4):
        upsert(table, ("a", "p", step, step), ("b", "q", step, step))
    seen = HoodieTable(CountingStorage(table.base_path), table.engine, table.clock)
    options = {"hoodie.clean.commits.retained": 1, "hoodie.cleaner.incremental.mode": incremental}
    assert seen.explain(CLEAN, options).plan.files
    assert sorted(folder for folder in seen.storage.listed if not folder.startswith(".hoodie")) == [
        "",
        "part=p",
        "part=q",
    ]
