"""A view lists once, shows the newest slices that are not replaced, and misses no file in silence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import MissingFileError
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.view import TableView, load_state
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """Two slices of one group in partition p, one in q."""
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    made.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    made.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    return made


@pytest.fixture
def state(table):
    return load_state(CountingStorage(table.base_path), table.clock)


def listed(state):
    return sorted(folder for folder in state.storage.listed if not folder.startswith(".hoodie"))


class Only:
    """The choice of one partition."""

    def __init__(self, partition):
        self.partition = partition

    def folders(self, paths):
        return [path for path in paths if path == self.partition]

    def partitions(self, paths):
        return self.folders(paths)


def make_replacecommit(table, group):
    """A commit that replaces the group and writes nothing."""
    state = table.state()
    metadata = state.commit_metadata(state.timeline.commits[-1])
    gone = replace(metadata, operation="DELETE_PARTITION", stats=(), replaced={group.partition: (group.file_id,)})
    started = instants.start(state, instants.request(state, "20990101000000000", Action.REPLACE_COMMIT))
    return instants.complete(state, started, state.layout.encode_commit(gone, replace=True), table.clock)


def test_each_partition_is_listed_once_whatever_is_asked(state):
    view = TableView(state)
    assert listed(state) == [], "nothing is listed before it is asked for"
    first, second = state.timeline.commits
    assert [file_slice.base_instant for file_slice in view.latest()] == [second.time, first.time]
    assert [len(group.slices) for group in view.groups] == [2, 1]
    assert [(each.partition, len(each.base_files)) for each in view.files] == [("part=p", 2), ("part=q", 1)]
    assert view.left_out == ()
    view.check(["part=q"])
    assert listed(state) == ["", "part=p", "part=q"]


def test_of_named_partitions_only_these_are_listed(state):
    view = TableView(state, ["part=q"])
    assert {file_slice.partition for file_slice in view.latest()} == {"part=q"}
    assert listed(state) == ["part=q"]


@pytest.mark.parametrize(("named", "folders"), [(None, ["", "part=q"]), (["part=p", "part=q"], ["part=q"])])
def test_a_choice_leaves_partitions_out_unlisted(state, named, folders):
    view = TableView(state, named, Only("part=q"))
    assert {file_slice.partition for file_slice in view.latest()} == {"part=q"}
    assert view.left_out == ("part=p",)
    assert listed(state) == folders


def test_a_view_of_the_past(state):
    first = state.timeline.commits[0].time
    assert {file_slice.base_instant for file_slice in TableView(state, as_of=first).latest()} == {first}


def test_replaced_groups_make_up_the_table_until_they_were(table):
    before = TableView(table.state())
    group = next(file_slice.group for file_slice in before.slices if file_slice.partition == "part=p")
    done = make_replacecommit(table, group)
    view = TableView(table.state())
    assert [(each, by.key) for each, by in view.replaced.items()] == [(group, done.key)]
    assert {file_slice.partition for file_slice in view.latest()} == {"part=q"}
    assert group in {each.group for each in view.groups}
    assert TableView(table.state(), as_of=done.time).latest() == view.latest()
    past = TableView(table.state(), as_of=before.state.timeline.commits[-1].time)
    assert past.replaced == {}
    assert past.latest() == before.latest()


def test_a_missing_file_is_told_by_those_who_check(table):
    (lost,) = [s for s in TableView(table.state()).slices if s.partition == "part=p"]
    table.storage.delete(lost.base_file.path)
    view = TableView(table.state())
    with pytest.raises(MissingFileError, match=lost.base_file.name):
        view.latest()
    view.check(["part=q"])
    assert [s.base_instant for s in view.slices if s.partition == "part=p"] == [table.timeline.commits[0].time]


@pytest.mark.parametrize("named", [None, ["part=p", "part=q"]])
def test_a_chosen_partition_that_is_nowhere_is_missed(table, named):
    for file in table.storage.list("part=p").files:
        table.storage.delete(file.path)
    TableView(table.state(), named, Only("part=q")).check()
    with pytest.raises(MissingFileError, match="part=p"):
        TableView(table.state(), named, Only("part=p")).check()
