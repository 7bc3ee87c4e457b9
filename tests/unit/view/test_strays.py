"""A file that its completed commit does not name is not part of the table."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION
from hoodie.errors import CorruptTableError
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.timeline import Action
from hoodie.timeline.codecs.compaction import decode_compaction_plan, encode_compaction_plan
from hoodie.view import TableView
from hoodie.view.strays import stray_paths
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

OLD, WHOLE = batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), {"a": ("p", 2, 2), "b": ("p", 1, 1)}
ALONE = "00000000-1111-2222-3333-444444444444-0"
ARCHIVING = {
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.clean.commits.retained": 1,
}


def made(path, version, **options):
    """One group of two base files."""
    table = create(path / "t", FakeClock(), **{"hoodie.write.table.version": version}, **options)
    table.write(OLD, "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    return table


def leave(table, data, file_id=None, base=None):
    """A file of a lost attempt of the commit that wrote the current base file: its name is greater."""
    base = base or table.file_slices()[0].base_file
    name = BaseFileName(file_id or base.file_id, "9-99-999", base.instant)
    path = f"{base.partition}/{name}"
    table.storage.create(path, data)
    return path


@pytest.mark.parametrize("version", ["9", "6"])
def test_a_file_of_a_lost_attempt_is_neither_read_nor_built_on_nor_cleaned_for(tmp_path, version):
    table = made(tmp_path, version)
    old, new = (s.base_file for s in reversed(TableView(table.state()).groups[0].slices))
    strays = [leave(table, table.storage.read(old.path)), leave(table, table.storage.read(old.path), ALONE)]
    assert content(table) == content(table, as_of=new.instant) == WHOLE
    assert set(stray_paths(TableView(table.state()).files, table.state())) == set(strays)
    table.write(batch([("q", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    whole = {**WHOLE, "q": ("q", 1, 1)}
    cleaned = table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert (cleaned.files_deleted, content(table)) == (1, whole)
    for path in strays:
        table.storage.delete(path)
        table.storage.create(path, b"")
    table.write(batch([("a", "p", 3, 3), ("c", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    assert content(table) == {**whole, "a": ("p", 3, 3), "c": ("p", 3, 3)}
    assert len(table.file_slices()) == 2
    assert all(table.storage.info(path) is not None for path in strays)


def test_a_log_of_a_lost_attempt(tmp_path):
    table = made(tmp_path, "9", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 5, 5)]), "upsert", SMALL_BLOOM)
    *_, log = table.file_slices()[0].log_files
    name = LogFileName(log.file_id, log.time, 1, "9-99-999")
    table.storage.create(f"{log.partition}/{name}", table.storage.read(log.path))
    assert f"{log.partition}/{name}" not in table.file_slices()[0].paths
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    assert content(table)["a"] == ("p", 5, 5)


@pytest.mark.parametrize("version", ["9", "6"])
def test_what_a_torn_commit_names_is_not_known(tmp_path, version):
    """`{}` is the JSON of an object, and no commit's."""
    table = made(tmp_path, version)
    commit = table.timeline.commits[0]
    body = f"{table.state().layout.folder}/{commit.file_name}"
    data = table.storage.read(body)
    for torn in (data[: len(data) // 2], b"{}"):
        table.storage.delete(body)
        table.storage.create(body, torn)
        assert stray_paths(TableView(table.state()).files, table.state()) == frozenset()
        assert content(table) == WHOLE


def test_an_empty_object_replaces_something_that_nobody_knows(tmp_path):
    """Version 6: the replaced file group would be back, and the new one a stray."""
    table = made(tmp_path, "6")
    table.write(batch([("a", "p", 3, 3)]), "insert_overwrite", SMALL_BLOOM)
    state = table.state()
    body = state.layout.path(table.timeline.last_commit)
    table.storage.delete(body)
    table.storage.create(body, b"{}")
    with pytest.raises(CorruptTableError, match="empty object"):
        table.read()


@pytest.mark.parametrize("version", ["9", "6"])
def test_a_commit_that_names_no_file_says_nothing_of_those_that_are_there(tmp_path, version):
    table = made(tmp_path, version)
    state, commit = table.state(), table.timeline.last_commit
    nothing = replace(state.commit_metadata(commit), stats=())
    table.storage.delete(state.layout.path(commit))
    table.storage.create(state.layout.path(commit), state.layout.encode_commit(nothing, replace=False))
    assert content(table) == WHOLE
    assert table.diagnose().findings == ()


@pytest.mark.parametrize("version", ["9", "6"])
def test_of_two_files_of_an_archived_commit_the_archive_says_which_is_its(tmp_path, version):
    """A stray that would be a file group of its own holds archival back: later it would look like the table's."""
    table = made(tmp_path, version)
    base = table.file_slices()[0].base_file
    for step in range(4):
        table.write(batch([(f"q{step}", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    whole = content(table)
    alone = leave(table, b"", ALONE, base)
    decision = table.explain(ARCHIVE, ARCHIVING)
    assert decision.facts["held_back_by"].startswith(base.instant)
    assert re.search(rf"{alone} has the time of.*doctor --fix", decision.reason)
    table.storage.delete(alone)
    rival = leave(table, b"", base=base)
    assert table.run(ARCHIVE, ARCHIVING).last >= base.instant
    assert content(table) == whole
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted
    table.write(batch([("b", "p", 7, 7)]), "upsert", SMALL_BLOOM)
    assert content(table) == {**whole, "b": ("p", 7, 7)}
    assert table.storage.info(rival) is not None


def test_a_compaction_plan_that_names_one_is_refused(tmp_path):
    table = made(tmp_path, "9", **{"hoodie.table.type": "MERGE_ON_READ"})
    (base,) = [each.base_file for each in table.file_slices()]
    time = table.schedule(COMPACTION, force=True)
    path = table.state().layout.requested_path(time, Action.COMPACTION)
    plan = table.storage.read(path)
    stray = leave(table, table.storage.read(base.path))
    assert base.name in [each.base_file for each in decode_compaction_plan(plan, path).operations]
    table.storage.delete(path)
    table.storage.create(path, encode_compaction_plan(with_base(decode_compaction_plan(plan, path), stray)))
    with pytest.raises(CorruptTableError, match=rf"names a file that its commit does not name.*{re.escape(stray)}"):
        table.run(COMPACTION)


def with_base(plan, path):
    name = path.rpartition("/")[2]
    return replace(plan, operations=tuple(replace(each, base_file=name) for each in plan.operations))
