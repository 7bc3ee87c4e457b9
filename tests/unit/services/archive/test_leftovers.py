"""Files that are left of instants that were taken back or replaced: archival waits for them."""

from __future__ import annotations

from hoodie import ARCHIVE, CLEAN, HoodieTable, Restore, Rollback
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.times import new_time
from tests.support.long_timelines import SHORT, written
from tests.support.tables import SMALL_BLOOM, batch, content


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


def test_a_rollback_of_version_6_stays_while_a_file_of_its_instant_is_there(tmp_path):
    """It has a count of its own. Archived before the commits around it, it would no longer protect them."""
    table = written(tmp_path / "t", 2, **{"hoodie.write.table.version": "6"})
    left = None
    for number in range(5):
        last = written_once(table, number)
        if left is None:
            left = next(stat.path for stat in table.state().commit_metadata(last).stats)
            body = table.storage.read(left)
        table.run(Rollback(last.time))
    table.storage.create(left, body)
    rows, rollbacks = content(table), table.timeline.completed(Action.ROLLBACK)
    assert len(rollbacks) == 5
    table.run(ARCHIVE, SHORT)
    assert table.timeline.completed(Action.ROLLBACK) == rollbacks
    for number in range(5, 10):
        written_once(table, number)
    table.run(ARCHIVE, SHORT)
    assert "k5" in content(table)
    assert {key: content(table)[key] for key in rows} == rows
    table.storage.delete(left)
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.completed(Action.ROLLBACK)) == 2
    assert len(table.timeline.commits) == 2


def written_once(table, number):
    table.write(batch([(f"k{number}", "p", 1, 10 + number)]), "upsert", SMALL_BLOOM)
    return table.timeline.commits[-1]
