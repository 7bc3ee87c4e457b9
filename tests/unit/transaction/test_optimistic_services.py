"""An optimistic writer beside other work on its file groups: plans, rewrites, restores, savepoints."""

from __future__ import annotations

import os
import time

import pyarrow.compute as pc
import pytest

from hoodie import CLEAN, COMPACTION, LOG_COMPACTION, Restore, Rollback
from hoodie.errors import PendingInstantError, WriteConflictError
from hoodie.formats import avro_file
from hoodie.model.commit import CommitMetadata
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
APART = {**OCC, "hoodie.parquet.small.file.limit": 0}
MODE = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
BASE = {"a": ("p", 1, 1), "b": ("q", 1, 1)}


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=[COW, MOR])
def path(request, tmp_path, version):
    options = {"hoodie.write.table.version": version, "hoodie.table.type": request.param}
    table = create(tmp_path / "t", QuickClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    return tmp_path / "t"


def begun(path, *rows, written=False, **options):
    return Rival(path, lambda table: table.write(batch(rows), "upsert", {**APART, **options}), written=written).begin()


def group_of(table, partition):
    (found,) = [each.file_id for each in table.file_slices() if each.partition == f"part={partition}"]
    return found


def plan_clustering(table, partition):
    """As Hudi leaves it: its instant, which waits."""
    state = table.state()
    group = {"slices": [{"fileId": group_of(table, partition), "partitionPath": f"part={partition}"}]}
    plan = avro_file.encode("HoodieRequestedReplaceMetadata", {"clusteringPlan": {"inputGroups": [group]}})
    action = Action.CLUSTERING if table.version > 6 else Action.REPLACE_COMMIT
    return instants.request(state, new_time(state, table.clock), action, plan)


def replace_group(table, partition, operation):
    """The rows of a group in a new file of another one, as by Hudi's clustering, or its insert_overwrite."""
    group = group_of(table, partition)
    old = next(each for each in table.file_slices() if each.file_id == group)
    rows = table.read(columns=["id", "part", "ts", "value"], filter=pc.field("part") == partition)
    done = table.write(rows, "bulk_insert", OCC)
    state = table.state()
    metadata = state.commit_metadata(next(i for i in state.timeline if i.time == done.instant.time))
    for file in table.storage.list(state.layout.folder).files:
        if file.name.startswith(done.instant.time):
            table.storage.delete(file.path)
    replaced = CommitMetadata(operation, metadata.stats, metadata.extra, {old.partition: (group,)})
    instant = instants.request(state, done.instant.time, Action.REPLACE_COMMIT)
    body = state.layout.encode_commit(replaced, replace=True)
    instants.complete(state, instants.start(state, instant), body, table.clock)
    return instant


def at_rest(table, *waiting):
    assert [instant.time for instant in table.timeline.pending] == list(waiting)
    assert table.storage.list(".hoodie/.heartbeat").files == ()
    assert table.storage.list(".hoodie/.temp").folders == ()


@pytest.mark.parametrize("written", [False, True])
def test_a_clustering_that_is_planned_meanwhile(path, written):
    table = shared(path)
    loses, stands = begun(path, ("a", "p", 2, 2), written=written), begun(path, ("b", "q", 2, 2), written=written)
    plan = plan_clustering(table, "p")
    error = loses.finish()
    assert isinstance(error, WriteConflictError)
    assert "a clustering of the same file groups was planned" in str(error)
    assert plan.time in str(error)
    assert stands.finish() is None
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 2, 2)}
    at_rest(table, plan.time)


@pytest.mark.parametrize("operation", ["CLUSTER", "INSERT_OVERWRITE"])
def test_a_group_that_is_replaced_meanwhile(path, operation):
    """Its rows have moved to another group: what is written to the old one would never be read."""
    table = shared(path)
    loses, stands = begun(path, ("a", "p", 2, 2)), begun(path, ("b", "q", 2, 2))
    again = begun(path, ("a", "p", 3, 3), **{"hoodie.write.num.retries.on.conflict.failures": 1})
    replace_group(table, "p", operation)
    assert isinstance(loses.finish(), WriteConflictError)
    assert stands.finish() is None
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 2, 2)}
    assert again.finish() is None
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 2, 2)}
    at_rest(table)


def test_a_new_key_that_a_replacement_brings_is_found(path):
    """A clustering adds no key; an overwrite may."""
    table = shared(path)
    writer = begun(path, ("x", "r", 2, 2))
    table.write(batch([("x", "r", 1, 1)]), "insert", APART)
    table.write(batch([("x", "r", 1, 1)]), "upsert", APART)
    assert isinstance(writer.finish(), WriteConflictError)
    clustered = begun(path, ("y", "r", 2, 2))
    replace_group(table, "r", "CLUSTER")
    assert clustered.finish() is None
    assert content(table) == {**BASE, "x": ("r", 1, 1), "y": ("r", 2, 2)}


@pytest.mark.parametrize("path", [MOR], indirect=True)
@pytest.mark.parametrize("version", ["9"], indirect=True)
@pytest.mark.parametrize("execute", [False, True])
def test_a_log_compaction_that_is_planned_meanwhile(path, execute):
    table = shared(path)
    for step in (2, 3):
        table.write(batch([("a", "p", step, step)]), "upsert", APART)
    loses, stands = begun(path, ("a", "p", 5, 5)), begun(path, ("b", "q", 5, 5))
    options = {**MODE, "hoodie.log.compaction.blocks.threshold": 2}
    plan = table.schedule(LOG_COMPACTION, options, force=True)
    assert plan is not None
    if execute:
        table.run(LOG_COMPACTION, options)
    error = loses.finish()
    assert isinstance(error, WriteConflictError)
    assert plan in str(error)
    assert stands.finish() is None
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 5, 5)}
    table.run(LOG_COMPACTION, options)
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 5, 5)}
    at_rest(table)


@pytest.mark.parametrize("written", [False, True])
def test_a_restore_meanwhile(path, written):
    """Any write that began before it loses, even if it touches no file that the restore removed."""
    table = shared(path)
    saved = table.savepoint().instant
    table.write(batch([("c", "r", 2, 2)]), "upsert", APART)
    writers = [begun(path, (key, part, 3, 3), written=written) for key, part in (("a", "p"), ("n", "new"))]
    with pytest.raises(PendingInstantError, match="Another writer is at work"):
        table.run(Restore(saved))
    table.run(Restore(saved), MODE)
    errors = [writer.finish() for writer in writers]
    assert [type(error) for error in errors] == [WriteConflictError] * 2, errors
    assert all("the table was restored to an earlier state" in str(error) for error in errors)
    assert content(table) == BASE
    table.write(batch([("a", "p", 4, 4)]), "upsert", APART)
    assert content(table) == {**BASE, "a": ("p", 4, 4)}
    at_rest(table)


def test_a_file_that_a_restore_deletes_while_it_is_written(path):
    """The restore is at work: data files are gone, and the writer's instant is still pending."""
    table = shared(path)
    writer = begun(path, ("n", "new", 3, 3))

    def swept(_):
        state = table.state()
        instants.request(state, new_time(state, table.clock), Action.RESTORE)
        raise FileNotFoundError("swept")

    writer.storage.open_output = swept
    error = writer.finish()
    assert isinstance(error, WriteConflictError), error
    assert "it was being taken back at that time" in str(error)


@pytest.mark.parametrize("written", [False, True])
def test_after_a_restore_a_write_is_planned_again(path, written):
    """On the restored table: what was taken back does not come again with it."""
    table = shared(path)
    saved = table.savepoint().instant
    table.write(batch([("a", "p", 2, 2), ("c", "r", 2, 2)]), "upsert", APART)
    once = {"hoodie.write.num.retries.on.conflict.failures": 1}
    writers = [begun(path, (key, part, 3, 3), written=written, **once) for key, part in (("b", "q"), ("n", "new"))]
    table.run(Restore(saved), MODE)
    assert [writer.finish() for writer in writers] == [None, None]
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 3, 3), "n": ("new", 3, 3)}
    at_rest(table)


def test_a_writer_that_is_taken_for_dead_while_it_writes_plans_again(path):
    """Its process was stopped for long, its heartbeat ran out, and another writer rolled its instant back."""
    table = shared(path)
    writer = begun(path, ("a", "p", 3, 3), **{"hoodie.write.num.retries.on.conflict.failures": 1})
    (pending,) = table.timeline.pending
    (path / ".hoodie" / ".heartbeat" / pending.time).unlink()
    table.write(batch([("b", "q", 2, 2)]), "upsert", APART)
    assert table.timeline.pending == ()
    assert writer.finish() is None
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 2, 2)}
    at_rest(table)


def test_a_rollback_of_the_last_commit_meanwhile(path):
    table = shared(path)
    last = table.write(batch([("c", "r", 2, 2)]), "upsert", APART).instant.time
    writer, own = begun(path, ("a", "p", 3, 3)), begun(path, ("b", "q", 3, 3))
    living = [instant.time for instant in table.timeline.pending]
    assert len(living) == 2
    with pytest.raises(PendingInstantError, match="its writer is at work"):
        table.run(Rollback(living[0]), MODE)
    with pytest.raises(PendingInstantError, match="Another writer is at work"):
        table.run(Rollback(last))
    table.run(Rollback(last), MODE)
    for each in (writer, own):
        error = each.finish()
        assert isinstance(error, WriteConflictError)
        assert "was taken back" in str(error)
    assert content(table) == BASE
    at_rest(table)


def test_whether_a_writer_lives_is_told_by_the_interval_that_is_said(path):
    table, slow = shared(path), {"hoodie.client.heartbeat.interval_in_ms": 3_600_000}
    saved = table.savepoint().instant
    table.write(batch([("c", "r", 2, 2)]), "upsert", APART)
    writer = begun(path, ("a", "p", 3, 3), **slow)
    (pending,) = table.timeline.pending
    ten_minutes_ago = time.time() - 600
    os.utime(path / ".hoodie" / ".heartbeat" / pending.time, (ten_minutes_ago, ten_minutes_ago))
    with pytest.raises(PendingInstantError, match="Another writer is at work"):
        table.run(Restore(saved), slow)
    with pytest.raises(PendingInstantError, match="its writer is at work"):
        table.explain(Rollback(pending.time), slow)
    assert writer.finish() is None


def test_a_savepoint_and_a_clean_meanwhile(path):
    table = shared(path)
    for step in range(2, 5):
        table.write(batch([("b", "q", step, step)]), "upsert", APART)
    writer = begun(path, ("a", "p", 9, 9))
    saved = table.savepoint(options=MODE).instant
    table.run(CLEAN, {**MODE, "hoodie.clean.commits.retained": 1})
    assert writer.finish() is None
    assert content(table) == {"a": ("p", 9, 9), "b": ("q", 4, 4)}
    table.run(Restore(saved), MODE)
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 4, 4)}
    at_rest(table)


@pytest.mark.parametrize("operation", ["upsert", "delete"])
def test_a_key_that_a_compaction_drops_and_another_inserts(tmp_path, version, operation):
    """The writer found it in a base file, deleted by a log; after the compaction it is nowhere, and goes to another group."""
    options = {"hoodie.write.table.version": version, "hoodie.table.type": MOR}
    table = create(tmp_path / "t", QuickClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "delete", SMALL_BLOOM)
    table.schedule(COMPACTION, force=True)

    def rival(key):
        rows = batch([(key, "p", 3, 3)])
        return Rival(tmp_path / "t", lambda own: own.write(rows, operation, APART), written=True).begin()

    loses, stands = rival("a"), rival("b")
    table.run(COMPACTION)
    table.write(batch([("a", "p", 4, 4)]), "upsert", APART)
    error = loses.finish()
    assert isinstance(error, WriteConflictError)
    assert "has inserted one of its keys" in str(error)
    assert stands.finish() is None
    left = {"b": ("p", 3, 3)} if operation == "upsert" else {}
    assert content(table) == {"a": ("p", 4, 4), **left}
    at_rest(table)


@pytest.mark.parametrize("kind", [COW, MOR])
def test_a_delete_in_a_bucket_that_another_makes(tmp_path, version, kind):
    """There is no file group that both touch: the delete found none, and the key is there by the time it completes."""
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    buckets = {**APART, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 4}
    table = create(tmp_path / "t", QuickClock(), **options)
    table.write(batch([("a", "p", 1, 1)]), "upsert", {**SMALL_BLOOM, **buckets})
    keys = "bcdefghi"
    for key in keys:  # some of them are in a's bucket, some in others
        table.write(batch([("a", "p", 1, 1)]), "upsert", buckets)
        rows = batch([(key, key, 3, 3)])
        rival = Rival(tmp_path / "t", lambda own, rows=rows: own.write(rows, "delete", buckets), written=True).begin()
        table.write(rows, "upsert", buckets)
        assert isinstance(rival.finish(), WriteConflictError)
    assert set(content(table)) == {"a", *keys}


@pytest.mark.parametrize("call", ["list", "open_input"])
def test_the_file_of_an_inserted_key_is_rewritten_and_cleaned_while_it_is_looked_for(path, call):
    """The file is gone from the writer's state, and its replacement adds no key. (A cleaner of Hudi's that keeps versions of
    files does not wait for writers.)
    """
    writer = begun(path, ("n", "p", 2, 2))
    table = shared(path)
    table.write(batch([("n", "p", 3, 3), ("m", "p", 3, 3)]), "upsert", APART)
    known = {file_slice.file_id for file_slice in table.file_slices()}
    written, hit, output, whole = [], [], writer.storage.open_output, getattr(writer.storage, call)

    def write_file(place):
        written.append(place)
        return output(place)

    def meanwhile(place):
        if not hit and written and place.startswith("part=p"):
            hit.append(place)
            files = {path for latest in table.file_slices() for path in latest.paths}
            for step in (4, 5):
                table.write(batch([("m", "p", step, step)]), "upsert", APART)
                if table.state().properties.is_merge_on_read:
                    table.schedule(COMPACTION, MODE, force=True)
                    table.run(COMPACTION, MODE)
            assert {file_slice.file_id for file_slice in table.file_slices()} == known
            for each in files - {path for latest in table.file_slices() for path in latest.paths}:
                table.storage.delete(each)
        return whole(place)

    writer.storage.open_output = write_file
    setattr(writer.storage, call, meanwhile)
    error = writer.finish()
    assert hit
    assert isinstance(error, WriteConflictError), error
    assert "has inserted one of its keys" in str(error)
    assert content(table) == {**BASE, "n": ("p", 3, 3), "m": ("p", 5, 5)}
    at_rest(table)
