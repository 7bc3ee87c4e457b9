"""The planner of archival: which instants go, and what holds them back."""

from __future__ import annotations

import json

import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION
from hoodie.errors import ConfigError
from hoodie.timeline import Action, State
from tests.support.clock import FakeClock
from tests.support.long_timelines import SHORT, all_instants, written
from tests.support.tables import SMALL_BLOOM, batch, create


def test_not_before_there_are_more_than_the_maximum(version, tmp_path):
    table = written(tmp_path / "t", 3, **{"hoodie.write.table.version": version})
    decision = table.explain(ARCHIVE, SHORT)
    assert (decision.plan, decision.reason) == (None, "3 commits on the timeline, and it is archived from 4 on")
    assert table.run(ARCHIVE, SHORT).instants == 0
    assert table.explain(ARCHIVE, SHORT | {"hoodie.keep.max.commits": 30}).plan is None


def test_an_explanation_changes_nothing(table):
    before = all_instants(table)
    decision = table.explain(ARCHIVE, SHORT)
    told = decision.as_dict("archive")
    assert told["files"][0]["instant"] == table.timeline.commits[0].time
    assert json.dumps(told)
    assert f"would archive {len(decision.items)} instants" in decision.as_text("archive")
    assert all_instants(table) == before
    files = table.storage.list(table.state().layout.archive_folder).files
    assert [file.name for file in files if file.name != ".keep"] == []


def test_options_that_contradict_each_other_are_refused(table):
    with pytest.raises(ConfigError, match="must be greater"):
        table.run(ARCHIVE, {"hoodie.keep.min.commits": 5, "hoodie.keep.max.commits": 5})


def test_more_stays_than_the_cleaner_counts(version, tmp_path):
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    table.run(ARCHIVE, SHORT | {"hoodie.clean.commits.retained": 5})
    assert len(table.timeline.commits) == 6
    assert table.explain(CLEAN, {"hoodie.clean.commits.retained": 5}).plan is not None


def test_a_savepoint_holds_archival_back(version, tmp_path):
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    saved = table.timeline.commits[2]
    table.savepoint(saved.time)
    decision = table.explain(ARCHIVE, SHORT)
    assert f"held back: there is a savepoint of {saved.time}" in decision.reason
    table.run(ARCHIVE, SHORT)
    assert table.timeline.commits[0] == saved
    with pytest.raises(ConfigError, match=r"hoodie\.archive\.beyond\.savepoint"):
        table.run(ARCHIVE, SHORT | {"hoodie.archive.beyond.savepoint": "true"})
    assert table.timeline.commits[0] == saved


def test_a_pending_write_keeps_its_last_commit(version, tmp_path):
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    commits = table.timeline.commits
    time = f"{int(commits[4].time) + 1}"
    folder = table.state().layout.folder
    table.storage.create(f"{folder}/{time}.commit.requested", b"")
    decision = table.explain(ARCHIVE, SHORT)
    assert f"held back: {time} commit REQUESTED is not complete" in decision.reason
    assert decision.facts["held_back_by"] == f"{time} commit REQUESTED"
    table.run(ARCHIVE, SHORT)
    assert table.timeline.commits[0] == commits[4]


def test_nothing_is_archived_while_something_is_taken_back(version, tmp_path):
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    time = f"{int(table.timeline.commits[-1].time) + 1}"
    table.storage.create(f"{table.state().layout.folder}/{time}.rollback.requested", b"")
    decision = table.explain(ARCHIVE, SHORT)
    assert decision.plan is None
    assert "is not complete; the next write ends it" in decision.reason


def test_delta_commits_that_the_next_compaction_counts_stay(version, tmp_path):
    options = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    table = written(tmp_path / "t", 8, **options)
    table.run(ARCHIVE, SHORT | {"hoodie.compact.inline.max.delta.commits": 6})
    assert len(table.timeline.commits) == 6
    assert table.explain(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 6}).plan is not None


def test_cleans_of_version_6_go_by_their_own_count(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": "6"})
    for number in range(8):
        table.write(batch([("k", "p", number, number)]), "upsert", SMALL_BLOOM)
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    cleans = table.timeline.completed(Action.CLEAN)
    assert len(cleans) > 3
    table.run(ARCHIVE, SHORT)
    assert table.timeline.completed(Action.CLEAN) == cleans[-2:]
    archived = [i for i in table.state().archive.instants() if i.action is Action.CLEAN]
    assert [i.time for i in archived] == [i.time for i in cleans[:-2]]
    assert table.state().archive.clean_result(archived[0]).start == archived[0].time
    assert all(i.state is State.COMPLETED for i in archived)
