"""Several writers at one table at once: what does not touch another's groups or keys is committed, the rest loses and is gone."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION
from hoodie.errors import DuplicateKeyError, MissingFileError, PendingInstantError, WriteConflictError
from hoodie.storage import walk_files
from hoodie.timeline import Action
from hoodie.transaction.heartbeat import FOLDER
from hoodie.write.pipeline import Pipeline
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
APART = {**OCC, "hoodie.parquet.small.file.limit": 0}  # new keys go to files of their own
BASE = batch([("a", "p", 1, 1), ("b", "q", 1, 1)])


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=[COW, MOR])
def path(request, tmp_path, version):
    table = create(
        tmp_path / "t",
        QuickClock(),
        **{"hoodie.write.table.version": version, "hoodie.table.type": request.param},
    )
    table.write(BASE, "insert", SMALL_BLOOM)
    return tmp_path / "t"


def write(rows, operation="upsert", **options):
    return lambda table: table.write(batch(rows), operation, {**APART, **options})


def uncommitted(table):
    """Data files that no commit names."""
    state = table.state()
    known = {stat.path for instant in state.timeline.commits for stat in state.commit_metadata(instant).stats}
    files = {file.path for file in walk_files(table.storage, "") if not file.path.startswith(".hoodie")}
    return {name for name in files if "/." not in name or ".log." in name} - known


def at_rest(table):
    """Nothing is pending, the loser left no files, and no lock is held."""
    assert table.timeline.pending == ()
    assert uncommitted(table) == set()
    assert table.storage.info(".hoodie/lock") is None
    assert table.storage.list(FOLDER).files == ()
    assert table.storage.list(".hoodie/.temp").folders == ()


@pytest.mark.format("11l")
@pytest.mark.parametrize("late_wins", [False, True])
def test_writes_to_different_groups_both_stand(path, late_wins):
    one = Rival(path, write([("a", "p", 2, 2)])).begin()
    two = Rival(path, write([("b", "q", 2, 2), ("c", "r", 2, 2)])).begin()
    table = shared(path)
    assert len(table.timeline.pending) == 2
    assert len(table.storage.list(FOLDER).files) == 2
    for rival in (two, one) if late_wins else (one, two):
        assert rival.finish() is None
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 2, 2), "c": ("r", 2, 2)}
    at_rest(table)


@pytest.mark.parametrize("late_wins", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (write([("a", "p", 2, 2)]), write([("a", "p", 3, 3)])),
        (write([("a", "p", 2, 2)]), write([("a", "p", 3, 3)], "delete")),
        (write([("x", "p", 2, 2)]), write([("x", "p", 3, 3)])),
        (write([("x", "new", 2, 2)]), write([("x", "new", 3, 3)])),
        (write([("x", "new", 2, 2)]), write([("x", "new", 3, 3)], "delete")),
    ],
    ids=["same key", "update, delete", "same new key", "same new key and partition", "insert, delete of nothing"],
)
def test_of_two_writes_of_one_key_the_first_to_complete_stands(path, first, second, late_wins):
    one, two = Rival(path, first).begin(), Rival(path, second).begin()
    won, lost = (two, one) if late_wins else (one, two)
    assert won.finish() is None
    table = shared(path)
    stands = content(table)
    error = lost.finish()
    if error is None:  # a deletion that completes first, of what is not there, leaves nothing that conflicts
        assert second is not first
        assert late_wins
        assert len(table.timeline.commits) == 3
    else:
        assert isinstance(error, WriteConflictError)
        assert table.timeline.commits[-1].time in str(error) or table.timeline.commits[-2].time in str(error)
        assert str(path) in str(error)
        assert content(table) == stands
    at_rest(table)


def test_inserts_into_one_small_file(path):
    rows = {"hoodie.parquet.small.file.limit": 100_000_000}
    one = Rival(path, write([("x", "p", 2, 2)], **rows)).begin()
    two = Rival(path, write([("y", "p", 2, 2)], **rows)).begin()
    assert one.finish() is None
    assert isinstance(two.finish(), WriteConflictError)
    assert set(content(shared(path))) == {"a", "b", "x"}
    at_rest(shared(path))


@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
def test_two_inserts_of_one_key(path, operation):
    one = Rival(path, write([("x", "new", 2, 2)], operation)).begin()
    two = Rival(path, write([("y", "new", 2, 2), ("x", "new", 3, 3)], operation)).begin()
    other = Rival(path, write([("z", "new", 2, 2), ("x", "p", 3, 3)], operation)).begin()
    assert one.finish() is None
    error = two.finish()
    assert isinstance(error, DuplicateKeyError)
    assert not error.retryable
    assert "hoodie.write.concurrency.check.new.keys=false" in str(error)
    assert other.finish() is None, "a key is unique in its partition"
    assert shared(path).read().num_rows == 5
    at_rest(shared(path))


def test_duplicates_may_be_allowed(path):
    allowed = {"hoodie.write.concurrency.check.new.keys": "false"}
    rivals = [Rival(path, write([("x", "new", n, n)], "insert", **allowed)).begin() for n in (1, 2)]
    assert [rival.finish() for rival in rivals] == [None, None]
    assert shared(path).read().num_rows == 4


def test_the_loser_is_planned_again_on_what_the_winner_left(path):
    again = {"hoodie.write.num.retries.on.conflict.failures": 1}
    one = Rival(path, write([("a", "p", 2, 2), ("x", "p", 2, 2)])).begin()
    two = Rival(path, write([("a", "p", 3, 3), ("x", "p", 3, 3)], **again)).begin()
    assert one.finish() is None
    assert two.finish() is None
    assert content(shared(path)) == {"a": ("p", 3, 3), "b": ("q", 1, 1), "x": ("p", 3, 3)}
    at_rest(shared(path))


def test_a_stream_is_not_planned_again(path, monkeypatch):
    """Rows of a long stream are handed on as they come: they cannot be asked for twice."""
    monkeypatch.setattr("hoodie.write.input._HELD_BYTES", 1)
    rows = batch([("x", "new", 2, 2)])

    def stream(table):
        table.write(rows.to_reader(), "bulk_insert", {**APART, "hoodie.write.num.retries.on.conflict.failures": 3})

    one = Rival(path, stream).begin()
    schema = rows.append_column("more", [[1]])
    assert Rival(path, lambda t: t.write(schema, "upsert", APART)).begin().finish() is None
    error = one.finish()
    assert isinstance(error, WriteConflictError)
    assert "read only once" in str(error)


def wide(key, column):
    return lambda table: table.write(batch([(key, key, 2, 2)]).append_column(column, [[7]]), "upsert", APART)


def test_columns_that_another_adds_are_not_hidden(path):
    """The columns of a table are those of the commit that began last."""
    one, two = Rival(path, write([("n", "narrow", 2, 2)])).begin(), Rival(path, wide("w", "more")).begin()
    assert [one.finish(), two.finish()] == [None, None]
    one, two = Rival(path, wide("x", "other")).begin(), Rival(path, write([("m", "narrow", 2, 2)])).begin()
    assert two.finish() is None
    assert isinstance(one.finish(), WriteConflictError)
    assert shared(path).schema.names[-2:] == ["value", "more"]
    at_rest(shared(path))


def test_who_completes_after_the_columns_changed_is_planned_again(path):
    narrow = Rival(path, write([("n", "narrow", 2, 2)], **{"hoodie.write.num.retries.on.conflict.failures": 1})).begin()
    assert Rival(path, wide("w", "more")).begin().finish() is None
    assert narrow.finish() is None
    assert "more" in shared(path).schema.names
    assert shared(path).read(filter="id = 'n'")["more"].to_pylist() == [None]


def test_a_single_writer_beside_a_living_one_is_refused(path):
    one = Rival(path, write([("a", "p", 2, 2)])).begin()
    table = shared(path)
    with pytest.raises(PendingInstantError, match=r"concurrency\.mode=optimistic_concurrency_control"):
        table.write(batch([("b", "q", 3, 3)]), "upsert", SMALL_BLOOM)
    with pytest.raises(PendingInstantError, match="Another writer is at work"):
        table.run(CLEAN, {})
    assert one.finish() is None
    table.write(batch([("b", "q", 3, 3)]), "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 3, 3)}


def test_a_clean_keeps_what_a_living_writer_reads(path):
    table = shared(path)
    for policy in ("KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS"):
        reader = Rival(path, write([("b", "q", 9, len(policy))])).begin()
        for step in range(3):
            table.write(batch([("a", "p", 10 + step, step)]), "upsert", APART)
        options = {
            "hoodie.clean.policy": policy,
            "hoodie.clean.commits.retained": 1,
            "hoodie.clean.fileversions.retained": 1,
            "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
        }
        table.run(CLEAN, options)
        assert reader.finish() is None
        assert content(table)["b"] == ("q", 9, len(policy))
        table.run(CLEAN, options)
    assert content(table)["a"] == ("p", 12, 2)


def test_services_after_an_optimistic_write(path):
    table = shared(path)
    asked = {
        **APART,
        "hoodie.clean.automatic": "true",
        "hoodie.clean.commits.retained": 1,
        "hoodie.compact.inline": "true",
        "hoodie.compact.inline.max.delta.commits": 1,
    }
    other = Rival(path, write([("z", "z", 2, 2)])).begin()
    result = table.write(batch([("a", "p", 2, 2)]), "upsert", asked)
    assert [outcome.failed for outcome in result.services] == [False, False], result.services
    assert other.finish() is None
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1), "z": ("z", 2, 2)}
    at_rest(table)


@pytest.mark.parametrize("path", [MOR], indirect=True)
@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("execute", [False, True])
def test_a_compaction_planned_under_a_writer(path, version, execute, written):
    """Logs of version 8 and newer count on top of any base file that is there at the commit; version 6 would hide its logs."""
    table = shared(path)
    table.write(batch([("a", "p", 2, 2)]), "upsert", APART)
    writer = Rival(path, write([("a", "p", 3, 3)]), written=written).begin()
    instant = table.schedule(COMPACTION, APART_SERVICES, force=True)
    if version == "6" and written:  # the plan would name a log that may be taken back
        assert instant is None
        assert writer.finish() is None
        return
    assert instant is not None
    if execute:
        table.run(COMPACTION, APART_SERVICES)
    error = writer.finish()
    if version == "6":
        assert isinstance(error, WriteConflictError)
        assert instant in str(error)
    else:
        assert error is None
    expected = {"a": ("p", 2, 2) if version == "6" else ("p", 3, 3), "b": ("q", 1, 1)}
    assert content(table) == expected
    table.run(COMPACTION, APART_SERVICES)
    assert content(table) == expected
    at_rest(table)


APART_SERVICES = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}


@pytest.mark.parametrize("path", [MOR], indirect=True)
def test_a_writer_beside_a_compaction_that_was_planned_before(path):
    table = shared(path)
    table.write(batch([("a", "p", 2, 2)]), "upsert", APART)
    table.schedule(COMPACTION, APART_SERVICES, force=True)
    writer = Rival(path, write([("a", "p", 3, 3)])).begin()
    table.run(COMPACTION, APART_SERVICES)
    assert writer.finish() is None
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 1, 1)}
    table.run(COMPACTION, APART_SERVICES)
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 1, 1)}
    at_rest(table)


@pytest.mark.parametrize("path", [MOR], indirect=True)
def test_logs_of_two_writers_at_one_group(path):
    """In version 6 both logs carry the name of one slice: neither may take the other's place, nor be rolled back for it."""
    one, two = (Rival(path, write([("a", "p", n, n)])).begin() for n in (2, 3))
    assert one.finish() is None
    assert isinstance(two.finish(), WriteConflictError)
    assert content(shared(path))["a"] == ("p", 2, 2)
    at_rest(shared(path))


def test_a_writer_that_was_stopped_for_long_does_not_commit(path):
    short = {"hoodie.client.heartbeat.interval_in_ms": 20, "hoodie.client.heartbeat.tolerable.misses": 2}
    stopped = Rival(path, write([("a", "p", 2, 2)], **short))
    beat = stopped.storage.touch
    stopped.storage.touch = lambda file: 1 / 0 if stopped.storage.reached.is_set() else beat(file)
    stopped.begin()
    QuickClock.pause(0.2)
    error = stopped.finish()
    assert isinstance(error, WriteConflictError)
    assert "heartbeat had expired" in str(error)
    assert content(shared(path)) == {"a": ("p", 1, 1), "b": ("q", 1, 1)}
    at_rest(shared(path))


def test_a_writer_that_was_taken_for_dead_does_not_commit(path):
    """Another has rolled it back: it finds its instant gone, even if its own heartbeat looks valid."""
    one = Rival(path, write([("a", "p", 2, 2)])).begin()
    table = shared(path)
    (beat,) = table.storage.list(FOLDER).files
    table.storage.delete(beat.path)
    table.write(batch([("b", "q", 2, 2)]), "upsert", APART)
    assert [instant.action for instant in table.timeline if instant.action is Action.ROLLBACK] == [Action.ROLLBACK]
    error = one.finish()
    assert isinstance(error, PendingInstantError | WriteConflictError)
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 2, 2)}
    assert uncommitted(table) == set()


def test_a_heartbeat_goes_on_while_the_write_does(path):
    quick = {"hoodie.client.heartbeat.interval_in_ms": 20, "hoodie.client.heartbeat.tolerable.misses": 1000}
    one = Rival(path, write([("a", "p", 2, 2)], **quick)).begin()
    table = shared(path)
    (first,) = table.storage.list(FOLDER).files
    assert first.size == 0
    QuickClock.pause(0.3)
    (later,) = table.storage.list(FOLDER).files
    assert later.modified_ms > first.modified_ms
    table.write(batch([("b", "q", 2, 2)]), "upsert", {**APART, **quick})
    assert one.finish() is None
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 2, 2)}
    at_rest(table)


@pytest.mark.parametrize("path", [MOR], indirect=True)
def test_a_file_that_another_takes_away_is_a_conflict(path, monkeypatch):
    """The writer of a listed log of version 6 has lost since: a reader of the log starts again."""
    table = shared(path)
    run = Pipeline.run
    taken = []

    def once(pipeline, rows):
        if not taken:
            taken.append(1)
            assert Rival(path, write([("b", "q", 2, 2)])).begin().finish() is None
            raise MissingFileError("A log is gone")
        return run(pipeline, rows)

    monkeypatch.setattr(Pipeline, "run", once)
    table.write(batch([("a", "p", 2, 2)]), "upsert", {**APART, "hoodie.write.num.retries.on.conflict.failures": 1})
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 2, 2)}
    at_rest(table)


@pytest.mark.parametrize("path", [MOR], indirect=True)
def test_a_plan_that_another_takes_back_while_it_is_read_is_a_conflict(path):
    table = shared(path)
    table.write(batch([("a", "p", 2, 2)]), "upsert", APART)
    planned = table.schedule(COMPACTION, APART_SERVICES, force=True)
    writer = Rival(path, write([("c", "q", 3, 3)], **{"hoodie.parquet.small.file.limit": 1 << 20})).begin()
    for file in [file for file in walk_files(table.storage, ".hoodie") if file.name.startswith(f"{planned}.comp")]:
        table.storage.delete(file.path)
    error = writer.finish()
    assert isinstance(error, WriteConflictError)
    assert "the plan of" in str(error).lower()
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}
    at_rest(table)


def test_a_file_that_is_missing_although_nobody_was_there_is_no_conflict(path):
    table = shared(path)
    (file,) = (info for info in table.storage.list("part=p").files if info.name.endswith(".parquet"))
    table.storage.delete(file.path)
    with pytest.raises(MissingFileError):
        table.write(batch([("a", "p", 2, 2)]), "upsert", APART)
    at_rest(table)
