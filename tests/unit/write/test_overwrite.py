"""insert_overwrite and insert_overwrite_table: rows in place of whole partitions, or of the whole table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION, Restore, Rollback
from hoodie.errors import DataError, PendingInstantError, TimeTravelError, WriteConflictError
from hoodie.formats import avro_file
from hoodie.timeline import Action, State
from hoodie.timeline.codecs.commit import decode_commit_avro, decode_commit_json
from hoodie.transaction import instants
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

FIRST = [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1), ("d", "r", 1, 1)]
NEW = {"x": ("p", 2, 2), "y": ("s", 2, 2)}
APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def kind(request):
    return request.param


def made(path, version, kind, clock=None, rows=FIRST):
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    table = create(path, clock or FakeClock(), **options)
    table.write(batch(rows), "insert", APART)
    table.write(batch([("a", "p", 2, 2)]), "upsert", APART)  # a log, where there are such
    return table


@pytest.fixture
def table(tmp_path, version, kind):
    return made(tmp_path / "t", version, kind)


def overwrite(table, operation="insert_overwrite", rows=(("x", "p", 2, 2), ("y", "s", 2, 2)), **options):
    return table.write(batch(list(rows)), operation, {**APART, **options})


def groups(table, partition):
    return [each.file_id for each in table.file_slices() if each.partition == f"part={partition}"]


def test_rows_take_the_place_of_all_in_their_partitions(table):
    before, since = content(table), table.timeline.commits[-1].time
    (old,) = groups(table, "p")
    done = overwrite(table)
    rest = {"c": ("q", 1, 1), "d": ("r", 1, 1)}
    assert content(table) == rest | NEW
    assert content(table, as_of=since) == before
    assert content(table, as_of=done.instant.time) == rest | NEW
    assert done.metadata.replaced == {"part=p": (old,), "part=s": ()}
    assert done.instant.action is Action.REPLACE_COMMIT
    assert (done.rows_inserted, done.groups_replaced) == (2, 1)
    assert "1 file group replaced" in str(done)
    changes = table.read_incremental(since)
    assert sorted(changes["id"].to_pylist()) == ["x", "y"]
    table.write(batch([("x", "p", 3, 3), ("z", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    assert content(table) == rest | {"x": ("p", 3, 3), "z": ("p", 3, 3), "y": ("s", 2, 2)}


def test_all_rows_of_the_table_are_replaced(table):
    done = overwrite(table, "insert_overwrite_table")
    assert content(table) == NEW
    assert sorted(done.metadata.replaced) == ["part=p", "part=q", "part=r"], "as Hudi: the partitions that were there"
    overwrite(table, "insert_overwrite_table", [("t", "q", 3, 3)])
    assert content(table) == {"t": ("q", 3, 3)}


def test_it_is_written_as_hudi_does(table):
    """Its request has no plan, so that no one takes it for a clustering; its pending file names the operation."""
    time = overwrite(table).instant.time
    state = table.state()
    request = avro_file.decode(table.storage.read(state.layout.requested_path(time, Action.REPLACE_COMMIT)), "request")
    assert request == {"operationType": None, "clusteringPlan": None, "extraMetadata": None, "version": None}
    decode = decode_commit_avro if table.version > 6 else decode_commit_json
    body = table.storage.read(state.layout.inflight_path(time, Action.REPLACE_COMMIT))
    assert decode(body, "pending").operation == "INSERT_OVERWRITE"


def test_rows_of_one_key_are_all_written_unless_they_are_to_be_combined(table):
    twice = [("x", "p", 3, 3), ("x", "p", 4, 4)]
    overwrite(table, rows=twice)
    assert [row["ts"] for row in table.read().to_pylist() if row["id"] == "x"] == [3, 4]
    done = overwrite(table, rows=twice, **{"hoodie.combine.before.insert": "true"})
    assert content(table)["x"] == ("p", 4, 4)
    assert done.rows_combined == 1


def test_no_row_replaces_nothing_and_never_a_table_unasked(table):
    before = content(table)
    assert overwrite(table, rows=()).metadata.replaced == {}
    assert content(table) == before
    with pytest.raises(DataError, match="truncate"):
        overwrite(table, "insert_overwrite_table", ())
    assert content(table) == before
    assert table.timeline.pending == ()
    overwrite(table, "insert_overwrite_table", (), **{"hoodie.datasource.overwrite.allow.empty": "true"})
    assert content(table) == {}
    assert table.schema.names == ["id", "part", "ts", "value"]


def test_a_partition_of_which_all_rows_are_deletions_is_emptied(tmp_path, version, kind):
    table = made(tmp_path / "t", version, kind)
    rows = batch([("e", "q", 2, 2), ("y", "s", 2, 2)])
    table.write(rows.append_column("_hoodie_is_deleted", pa.array([True, False])), "insert_overwrite", APART)
    assert sorted(row["id"] for row in table.read().to_pylist()) == ["a", "b", "d", "y"]


def test_the_partition_of_null_is_one_like_others(table):
    table.write(batch([("n", None, 1, 1), ("m", None, 1, 1)]), "insert", APART)
    overwrite(table, rows=[("o", None, 2, 2)])
    assert {"c", "d", "o"} <= content(table).keys()
    assert not {"n", "m"} & content(table).keys()


@pytest.mark.format("11d")
def test_a_clean_deletes_what_was_replaced_later(table):
    first = table.timeline.commits[0].time
    before = content(table, as_of=first)
    table.savepoint(first)
    old = [each.paths for each in table.file_slices() if each.partition == "part=p"]
    overwrite(table)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert all(table.storage.info(path) is not None for paths in old for path in paths), "its replacement is retained"
    overwrite(table, rows=[("z", "q", 3, 3)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert content(table, as_of=first) == before, "the savepoint keeps it"
    assert content(table) == {"d": ("r", 1, 1), "z": ("q", 3, 3)} | NEW
    table.delete_savepoint(first)
    overwrite(table, rows=[("z", "q", 4, 4)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    with pytest.raises(TimeTravelError):
        content(table, as_of=first)


def test_its_instant_is_archived_once_what_it_replaced_is_cleaned(table):
    short = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
    short["hoodie.compact.inline.max.delta.commits"] = 1
    overwrite(table)
    for number in range(4):
        table.write(batch([(f"k{number}", "p", 1, number)]), "upsert", SMALL_BLOOM)
    rows = content(table)
    assert "are not cleaned yet" in table.explain(ARCHIVE, short).reason
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    table.run(ARCHIVE, short)
    assert Action.REPLACE_COMMIT not in {each.action for each in table.timeline}
    assert content(table) == rows


def test_it_is_taken_back_whole(table):
    before, saved = content(table), table.timeline.commits[-1].time
    table.savepoint(saved)
    table.run(Rollback(overwrite(table).instant.time))
    assert content(table) == before
    overwrite(table, "insert_overwrite_table")
    overwrite(table)
    table.run(Restore(saved))
    assert content(table) == before


def test_one_that_is_killed_is_rolled_back_by_the_next(table):
    before = content(table)
    dying = type(table)(FaultyStorage(table.base_path, 30), table.engine, table.clock)
    with pytest.raises(Killed):
        overwrite(dying)
    assert content(table) == before
    assert [each.action for each in table.timeline.pending] == [Action.REPLACE_COMMIT]
    table.write(batch([]), "upsert", SMALL_BLOOM)
    assert table.timeline.pending == ()
    assert content(table) == before


def test_a_partition_that_has_lost_a_file_can_be_overwritten(table):
    (lost,) = [each for each in table.file_slices() if each.partition == "part=q"]
    for path in lost.paths:
        table.storage.delete(path)
    done = overwrite(table, rows=[("e", "q", 2, 2)])
    assert done.metadata.replaced["part=q"] == (lost.file_id,)
    assert content(table)["e"] == ("q", 2, 2)


def test_a_clustering_that_waits_stops_it(table):
    group = {"slices": [{"fileId": groups(table, "q")[0], "partitionPath": "part=q"}]}
    plan = avro_file.encode("HoodieRequestedReplaceMetadata", {"clusteringPlan": {"inputGroups": [group]}})
    state = table.state()
    waiting = instants.request(state, "20260101000100000", state.layout.clustering, plan)
    with pytest.raises(PendingInstantError, match=waiting.time):
        overwrite(table, rows=[("e", "q", 2, 2)])
    with pytest.raises(PendingInstantError, match=waiting.time):
        overwrite(table, "insert_overwrite_table")
    overwrite(table)
    assert [(each.time, each.state) for each in table.timeline.pending] == [(waiting.time, State.REQUESTED)]


@pytest.mark.parametrize("cleaned", [False, True])
def test_a_compaction_that_waits_is_carried_out_after_it(tmp_path, version, cleaned):
    """As Hudi does. Its cleaner deletes what was replaced although a plan names it."""
    table = made(tmp_path / "t", version, "MERGE_ON_READ")
    (busy,) = [each for each in table.file_slices() if each.log_files]
    planned = table.schedule(COMPACTION, force=True)
    overwrite(table)
    rows = content(table)
    for path in busy.paths if cleaned else ():
        table.storage.delete(path)
    (done,) = table.run(COMPACTION)
    assert done.instant.time == planned
    assert len(done.metadata.stats) == (0 if cleaned else 1)
    assert content(table) == rows
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert content(table) == rows


@pytest.fixture
def path(tmp_path, version, kind):
    made(tmp_path / "t", version, kind, QuickClock())
    return tmp_path / "t"


def rival(path, operation, rows, **options):
    return Rival(path, lambda table: table.write(batch(rows), operation, {**OCC, **options})).begin()


@pytest.mark.parametrize(
    ("operation", "rows"),
    [
        ("insert", [("n", "p", 1, 1)]),  # a file group that the overwrite knows nothing of
        ("upsert", [("b", "p", 5, 5)]),
        ("delete", [("b", "p", 5, 5)]),
        ("insert_overwrite", [("n", "p", 1, 1)]),
        ("insert_overwrite_table", [("n", "q", 1, 1)]),
    ],
)
def test_what_others_do_in_its_partitions_meanwhile_is_a_conflict(path, operation, rows):
    begun = rival(path, "insert_overwrite", [("x", "p", 2, 2)])
    table = shared(path)
    table.write(batch(rows), operation, OCC | APART)
    now = content(table)
    error = begun.finish()
    assert isinstance(error, WriteConflictError), error
    assert content(table) == now
    assert table.timeline.pending == ()
    again = rival(path, "insert_overwrite", [("x", "p", 2, 2)])
    assert again.finish() is None
    assert [key for key, row in content(table).items() if row[0] == "p"] == ["x"]


@pytest.mark.parametrize(
    ("operation", "rows", "fails"),
    [
        ("upsert", [("b", "p", 5, 5)], True),
        ("upsert", [("c", "q", 5, 5)], False),
        ("insert", [("n", "p", 1, 1)], False),
    ],
)
def test_others_lose_against_it_where_they_go_by_what_it_replaced(path, operation, rows, fails):
    begun = rival(path, operation, rows, **APART)
    table = shared(path)
    overwrite(table, rows=[("x", "p", 2, 2)], **OCC)
    error = begun.finish()
    assert isinstance(error, WriteConflictError) if fails else error is None
    stored = content(table)
    assert stored["x"] == ("p", 2, 2)
    assert (rows[0][0] in stored and stored[rows[0][0]] == rows[0][1:]) is not fails


def test_other_partitions_are_no_conflict_but_for_an_overwrite_of_the_table(path):
    whole, part = (rival(path, f"insert_overwrite{kind}", [("x", "p", 2, 2)]) for kind in ("_table", ""))
    table = shared(path)
    table.write(batch([("n", "new", 1, 1)]), "insert", OCC | APART)
    assert part.finish() is None
    assert isinstance(whole.finish(), WriteConflictError)
    assert content(table)["n"] == ("new", 1, 1)


def test_it_is_planned_again_after_a_conflict(path):
    again = {"hoodie.write.num.retries.on.conflict.failures": 1}
    begun = rival(path, "insert_overwrite", [("x", "p", 2, 2)], **again)
    table = shared(path)
    table.write(batch([("n", "p", 1, 1)]), "insert", OCC | APART)
    assert begun.finish() is None
    assert [key for key, row in content(table).items() if row[0] == "p"] == ["x"]


def test_a_compaction_that_completes_meanwhile_is_no_conflict(tmp_path, version):
    """It changes no row, and the group that it rewrote is replaced all the same."""
    made(tmp_path / "t", version, "MERGE_ON_READ", QuickClock())
    table = shared(tmp_path / "t")
    table.schedule(COMPACTION, OCC, force=True)
    begun = rival(tmp_path / "t", "insert_overwrite", [("x", "p", 2, 2)])
    table.run(COMPACTION)
    assert begun.finish() is None
    assert [key for key, row in content(table).items() if row[0] == "p"] == ["x"]
