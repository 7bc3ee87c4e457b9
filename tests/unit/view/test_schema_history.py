"""A file of the history of schemas counts when a commit bears it out, archived or not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hoodie import COMPACTION, Restore, Rollback
from hoodie.errors import CorruptTableError, MissingFileError, NotCommittedError
from hoodie.read.plan import plan_read
from hoodie.read.query import Query
from hoodie.schema.changes import AddColumn, RenameColumn
from hoodie.transaction import instants
from hoodie.view import load_state
from hoodie.view.table_schema import table_schema
from tests.support.archive import archive_before
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.tables import SMALL_BLOOM, batch, create

HISTORY = ".hoodie/.schema"
KINDS = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("9", "6")]


@pytest.fixture(params=KINDS, ids=lambda each: f"{each[0][:4]}{each[1]}")
def table(request, tmp_path):
    kind, version = request.param
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return made


def files(table):
    return [file.name for file in table.storage.list(HISTORY).files]


def load(table, times):
    """Rows of another file group, so that the first file stays as it is."""
    for step in range(times):
        table.write(batch([(f"b{step}", "q", step, step)]), "insert", SMALL_BLOOM)


def values(table):
    return table.read(filter="id = 'a'", columns=["id", "value"]).to_pylist()


@pytest.mark.parametrize("undo", [Rollback, Restore])
def test_an_alteration_that_is_taken_back_leaves_no_schema(table, undo):
    first = table.timeline.commits[-1].time
    table.savepoint()
    altered = table.alter([RenameColumn("value", "renamed")]).instant.time
    assert files(table) != []
    table.run(Rollback(altered) if undo is Rollback else Restore(first))
    assert files(table) == []
    assert values(table) == [{"id": "a", "value": 1}]


def test_one_that_is_left_does_not_come_into_force_later(table):
    """Another writer has taken the alteration back, and left its file."""
    altered = table.alter([RenameColumn("value", "renamed")]).instant.time
    left = Path(table.base_path, HISTORY, *files(table))
    text = left.read_bytes()
    table.run(Rollback(altered))
    left.write_bytes(text)
    load(table, 3)
    archive_before(table, table.timeline.commits[-1].time)
    assert table.timeline.is_committed(altered)
    assert table.state().schemas == ()
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert values(table) == [{"id": "a", "value": 2}]
    (finding,) = [each for each in table.diagnose().findings if each.check == "stray-schema"]
    assert (finding.instant, finding.path) == (altered, f"{HISTORY}/{left.name}")


def test_one_that_is_archived_counts_as_far_as_the_archive_tells(table):
    altered = table.alter([RenameColumn("value", "renamed")]).instant.time
    load_renamed = batch([("b", "q", 1, 1)]).rename_columns(["id", "part", "ts", "renamed"])
    for _ in range(2):
        table.write(load_renamed, "upsert", SMALL_BLOOM)
    archive_before(table, table.timeline.commits[-1].time)
    for name in files(table):  # Hudi writes none without the option
        if not name.startswith(altered):
            table.storage.delete(f"{HISTORY}/{name}")
    wanted = {"id": ["a"], "renamed": [1]}
    assert table.read(filter="id = 'a'", columns=["id", "renamed"]).to_pydict() == wanted
    assert not [each for each in table.diagnose().findings if each.check == "stray-schema"]
    folder = Path(table.base_path, table.state().layout.archive_folder)
    shutil.rmtree(folder)
    assert table.read(filter="id = 'a'", columns=["id", "renamed"]).to_pydict() == wanted


def test_a_restore_finds_the_schemas_of_before_the_timeline(table):
    """An alteration is archived, the commit of the savepoint has no file of the history, and newer ones are taken back."""
    altered = table.alter([RenameColumn("value", "renamed")]).instant.time
    row = batch([("b", "q", 1, 1)]).rename_columns(["id", "part", "ts", "renamed"])
    saved = table.write(row, "upsert", SMALL_BLOOM).instant.time
    archive_before(table, saved)
    table.savepoint()
    table.storage.delete(f"{HISTORY}/{next(name for name in files(table) if name.startswith(saved))}")
    for number in range(2):
        table.alter([AddColumn(f"more{number}", row.schema.field("ts").type)])
        table.write(table.read(filter="id = 'b'"), "upsert", SMALL_BLOOM)
    assert any(name.startswith(altered) for name in files(table))
    table.run(Restore(saved))
    assert table.read(filter="id = 'a'", columns=["id", "renamed"]).to_pydict() == {"id": ["a"], "renamed": [1]}


def test_a_compaction_completes_after_a_completion_that_failed(tmp_path, monkeypatch):
    for version in ("6", "9"):
        options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
        table = create(tmp_path / version, FakeClock(), **options)
        table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
        table.alter([RenameColumn("value", "renamed")])
        table.write(batch([("a", "p", 2, 2)]).rename_columns(["id", "part", "ts", "renamed"]), "upsert", SMALL_BLOOM)
        time = table.schedule(COMPACTION, force=True)
        with monkeypatch.context() as patched:
            patched.setattr(instants, "complete", _refused)
            with pytest.raises(NotCommittedError):
                table.run(COMPACTION)
        table.run(COMPACTION)
        assert time in table.timeline.commit_times
        assert len([name for name in files(table) if name.startswith(time)]) == 1


def _refused(*_args, **_how):
    raise NotCommittedError("The disk is full", found="no space", fix="make space")


def test_a_history_that_is_lost_is_noticed(table):
    """Older rows were null in a renamed column, and writes made that permanent."""
    before = table.timeline.commits[-1].time
    table.alter([RenameColumn("value", "renamed")])
    row = batch([("a", "p", 2, 2)]).rename_columns(["id", "part", "ts", "renamed"])
    table.write(row, "upsert", SMALL_BLOOM)
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
    instants_before = list(table.timeline)
    for name in files(table):
        table.storage.delete(f"{HISTORY}/{name}")
    calls = (
        table.read,
        lambda: table.read_incremental(before),
        table.read_changes,
        lambda: table.write(row, "upsert", SMALL_BLOOM),
        lambda: table.write(row, "delete", SMALL_BLOOM),
        lambda: table.delete_partitions(["part=p"]),
        lambda: table.alter([AddColumn("more", row.schema.field("ts").type)]),
        *([lambda: table.run(COMPACTION)] if table.properties.is_merge_on_read else []),
    )
    for call in calls:
        with pytest.raises(
            CorruptTableError, match=r"history of the table's schemas is lost.*`hudi-services doctor --fix`"
        ):
            call()
    assert [i.key for i in table.timeline if i.is_completed] == [i.key for i in instants_before if i.is_completed]
    assert table.read(as_of=before, columns=["id", "value"]).to_pylist() == [{"id": "a", "value": 1}]


def test_a_table_without_ids_is_not_asked_for_more(table):
    """The commit that declares the columns is read for them anyway."""
    load(table, 2)
    first = table.timeline.commits[0].time
    for as_of in (None, first):
        storage = CountingStorage(table.base_path)
        state = load_state(storage, table.clock)
        table_schema(state, as_of)
        opened = list(storage.opened)
        assert state.schemas_as_of(as_of) == ()
        assert storage.opened == opened
        assert storage.listed.count(HISTORY) == 1


def test_an_alteration_that_is_taken_back_after_the_timeline_was_listed(table):
    """Its file of the history goes with it: the read is planned again."""
    altered = table.alter([RenameColumn("value", "renamed")]).instant.time
    state = load_state(table.storage, table.clock)
    assert state.declared()[0].time == altered  # it is read before
    table.run(Rollback(altered))
    with pytest.raises(MissingFileError, match="rolled back or archived since"):
        _ = state.schemas
    assert plan_read(load_state(table.storage, table.clock), Query()).slices
    assert "value" in plan_read(state, Query()).schema.names
