"""Files that are left of instants that were taken back or replaced: archival waits for them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from hoodie import ARCHIVE, CLEAN, HoodieTable, Restore, Rollback
from hoodie.errors import CorruptFileError, MissingFileError
from hoodie.model.names import BaseFileName
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.view.files import StorageFiles
from tests.support.clock import FakeClock
from tests.support.long_timelines import SHORT, written
from tests.support.tables import SMALL_BLOOM, batch, content, create


def test_what_was_replaced_is_cleaned_before_its_replacecommit_goes(version, tmp_path):
    """Without the replacecommit the rows of the replaced file groups would be read again."""
    table = written(tmp_path / "t", 4, **{"hoodie.write.table.version": version})
    replaced = replace_by_hand(table)
    for number in range(4, 8):
        table.write(batch([(f"k{number}", "p", 1, number)]), "upsert", SMALL_BLOOM)
    rows = content(table)
    decision = table.explain(ARCHIVE, SHORT)
    assert "are not cleaned yet" in decision.reason
    table.run(ARCHIVE, SHORT)
    assert table.timeline.commits[0].time == replaced.time
    table.run(CLEAN, {"hoodie.clean.commits.retained": 2})
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.commits) == 2
    assert content(HoodieTable.open(table.base_path)) == rows


def replace_by_hand(table):
    """A replacecommit of this library's own make, as a clustering leaves it: all file groups replaced by nothing."""
    from hoodie.model.commit import CommitMetadata
    from hoodie.timeline import Instant
    from hoodie.view import TableView

    state = table.state()
    groups = {}
    for group in TableView(state).groups:
        groups.setdefault(group.partition, []).append(group.file_id)
    begun = instants.request(state, new_time(state, table.clock), Action.REPLACE_COMMIT)
    begun = instants.start(state, begun)
    schema = state.commit_metadata(state.timeline.commits[-1]).extra
    metadata = CommitMetadata("DELETE_PARTITION", (), schema, {p: tuple(ids) for p, ids in groups.items()}, False)
    done = instants.complete(state, begun, state.layout.encode_commit(metadata, replace=True), table.clock)
    assert isinstance(done, Instant)
    return done


def test_a_file_of_a_commit_that_was_taken_back_is_never_seen_again(version, tmp_path):
    """Older than the timeline it would count as committed."""
    table = written(tmp_path / "t", 4, **{"hoodie.write.table.version": version})
    last = table.timeline.commits[-1]
    path = next(stat.path for stat in table.state().commit_metadata(last).stats)
    body = table.storage.read(path)
    table.run(Rollback(last.time))
    for number in range(4, 9):
        table.write(batch([(f"k{number}", "p", 1, number)]), "upsert", SMALL_BLOOM)
    rows = content(table)
    table.storage.create(path, body)  # a forgotten task has written it since
    assert content(table) == rows
    decision = table.explain(ARCHIVE, SHORT)
    assert f"{path} is left of {last.time}, which was rolled back" in decision.reason
    table.run(ARCHIVE, SHORT)
    assert content(HoodieTable.open(table.base_path)) == rows
    table.storage.delete(path)
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.commits) == 2
    assert content(HoodieTable.open(table.base_path)) == rows


def test_a_file_that_a_restore_took_back_is_never_seen_again(version, tmp_path):
    table = written(tmp_path / "t", 5, **{"hoodie.write.table.version": version})
    saved, last = table.timeline.commits[3], table.timeline.commits[-1]
    path = next(stat.path for stat in table.state().commit_metadata(last).stats)
    body = table.storage.read(path)
    table.savepoint(saved.time)
    table.run(Restore(saved.time))
    table.delete_savepoint(saved.time)
    for number in range(5, 10):
        table.write(batch([(f"k{number}", "p", 1, number)]), "upsert", SMALL_BLOOM)
    rows = content(table)
    table.storage.create(path, body)  # a forgotten task has written it since
    assert f"{path} is left of {last.time}, which was taken back by a restore" in table.explain(ARCHIVE, SHORT).reason
    table.run(ARCHIVE, SHORT)
    assert content(HoodieTable.open(table.base_path)) == rows
    table.storage.delete(path)
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.commits) == 2
    assert content(HoodieTable.open(table.base_path)) == rows


def test_what_was_rolled_back_is_not_seen_again_where_rollbacks_are_archived_apart(tmp_path):
    """Version 6: they have a count of their own, and the file is there longer than the rollback on the timeline."""
    table = written(tmp_path / "t", 2, **{"hoodie.write.table.version": "6"})
    left = None
    for number in range(5):
        last = written_once(table, number)
        if left is None:
            left, time = next(stat.path for stat in table.state().commit_metadata(last).stats), last.time
            body = table.storage.read(left)
        table.run(Rollback(last.time))
    table.storage.create(left, body)
    rows = content(table)
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.completed(Action.ROLLBACK)) == 2
    for number in range(5, 10):
        written_once(table, number)
    assert f"{left} is left of {time}, which did not complete" in table.explain(ARCHIVE, SHORT).reason
    table.run(ARCHIVE, SHORT)
    assert table.timeline.commits[0].time < time
    assert "k5" in content(table)
    assert {key: content(table)[key] for key in rows} == rows
    table.storage.delete(left)
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.commits) == 2


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_file_lies_in_a_partition_that_its_instant_did_not_write(version, table_type, tmp_path):
    """A lost attempt put its rows elsewhere: of an instant that completed, or was rolled back."""
    table = written(tmp_path / "t", 3, **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
    table.write(batch([("away", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    (base,) = [each.base_file for each in table.file_slices() if each.partition == "part=q"]
    data, names = table.storage.read(base.path), []
    done, lost = table.timeline.commits[1], written_once(table, 9)
    table.run(Rollback(lost.time))
    for number in range(4, 9):
        written_once(table, number)
    rows = table.read()
    for instant in (done, lost):
        name = BaseFileName(f"00000000-1111-2222-3333-{len(names):012}-0", "9-99-999", instant.time)
        names.append(f"part=q/{name}")
        table.storage.create(names[-1], data)
    for held, path in zip((done.time, lost.time), names, strict=True):
        assert re.search(rf"{path}.*{held}.*doctor --fix", table.explain(ARCHIVE, SHORT).reason)
        table.run(ARCHIVE, SHORT)
        table.run(ARCHIVE, SHORT)
        assert table.timeline.commits[0].time <= held
        assert table.read().num_rows == HoodieTable.open(table.base_path).read().num_rows == rows.num_rows
        table.storage.delete(path)
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.commits) <= 3


@pytest.mark.parametrize(("again", "alone", "first"), [(2, None, 4), (5, None, 1), (3, 2, 1)])
def test_the_past_stays_as_it_was_beside_a_file_that_a_newer_one_hides(version, again, alone, first, tmp_path):
    """The file hides nothing now. As of a commit that stays it would, as of one that goes the archive is asked.

    Another file (`alone`) may hold commits back, so that one stays as of which the first file is not hidden.
    """
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    for number in range(6):
        part = "p" if number in (0, again) else "q"
        table.write(batch([(f"a{part}", part, number, number)]), "upsert", SMALL_BLOOM)
    times = [commit.time for commit in table.timeline.commits]
    (last,) = [each.base_file for each in table.file_slices() if each.partition == "part=p"]
    name = BaseFileName(last.file_id, "9-99-999", times[1])
    table.storage.create(f"part=p/{name}", table.storage.read(last.path))
    if alone is not None:
        other = BaseFileName("00000000-1111-2222-3333-444444444444-0", "9-99-999", times[alone])
        table.storage.create(f"part=p/{other}", table.storage.read(last.path))
    past = [content(table, as_of=time) for time in times]
    table.run(ARCHIVE, SHORT)
    assert table.timeline.commits[0].time == times[first]
    assert [content(HoodieTable.open(table.base_path), as_of=time) for time in times] == past


def test_all_partitions_are_listed_once_and_only_when_commits_go(tmp_path, monkeypatch):
    table = written(tmp_path / "t", 3)
    listed = []
    whole = StorageFiles.all
    monkeypatch.setattr(StorageFiles, "all", lambda files: listed.append(files) or whole(files))
    assert table.explain(ARCHIVE, SHORT).plan is None
    assert listed == []
    for number in range(3, 9):
        written_once(table, number)
    listed.clear()
    monkeypatch.setattr("hoodie.services.archive.execute._INSTANTS", 1)
    monkeypatch.setattr("hoodie.services.archive.execute._SHARE", 1)
    assert table.run(ARCHIVE, SHORT).instants > 4
    assert len(listed) == 2  # by the plan, and under the lock


def written_once(table, number):
    table.write(batch([(f"k{number}", "p", 1, 10 + number)]), "upsert", SMALL_BLOOM)
    return table.timeline.commits[-1]


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_commit_whose_file_is_damaged_stays_until_the_file_is_whole(table, damage):
    """Once it is archived, no read misses the rows."""
    table.write(batch([("alone", "far", 1, 1)]), "upsert", SMALL_BLOOM)
    wrote = table.timeline.commits[-1]
    path = next(each.base_file.path for each in table.file_slices() if "far" in each.partition)
    for number in range(4):
        table.write(batch([(f"k{number}", "p", 1, number)]), "upsert", SMALL_BLOOM)
    rows, file = content(table), Path(table.base_path) / path
    whole = file.read_bytes()
    file.unlink() if damage == "gone" else os.truncate(file, 100)
    table.run(ARCHIVE, SHORT)
    assert path in table.explain(ARCHIVE, SHORT).reason
    assert table.timeline.commits[0].time == wrote.time
    with pytest.raises(MissingFileError if damage == "gone" else CorruptFileError):
        table.read()
    file.write_bytes(whole)
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.commits) == 2
    assert content(table) == rows
