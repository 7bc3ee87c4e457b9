"""The outcome of each load that left rows in a quarantine, and whose it was."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from hoodie.storage import open_storage
from hudi_services.sources.ingest.quarantine import QuarantineWriter
from hudi_services.sources.ingest.quarantine_load import quarantined_loads

BAD = "id,part,ts,value\n,p,1,1\nb,p,1,1\n"


def left(feed, most=9, table=None):
    loads, older = quarantined_loads(open_storage(str(feed.quarantine)), str(table or feed.table), most)
    return [load.outcome for load in loads], older


def test_a_load_that_was_refused_is_not_one_that_left_rows_out(feed):
    feed.land("1.csv", BAD)
    with pytest.raises(SourceError):
        feed.run("csv")
    assert left(feed) == (["refused"], 0)
    feed.run("csv", max_bad_share=0.5)
    assert sorted(left(feed)[0]) == ["loaded", "refused"]
    assert left(feed, 1)[1] == 1
    assert len(feed.quarantined) == 2


def test_a_run_at_work_has_no_outcome_yet_and_one_of_an_earlier_release_was_loaded(feed):
    writer = QuarantineWriter(str(feed.quarantine), str(feed.table), "run-1")
    with writer.open(0) as rows:
        rows.add_unread("x.csv", "text", "reason")
    assert left(feed) == (["at work"], 0)
    writer.finish(keep_rows=True)
    assert left(feed) == (["loaded"], 0)
    next(path for path in (feed.quarantine / "run-1").iterdir() if path.name.startswith(".")).unlink()
    assert left(feed) == (["loaded"], 0)


def test_loads_of_other_tables_in_the_same_folder_are_theirs(feed, tmp_path):
    writer = QuarantineWriter(str(feed.quarantine), str(tmp_path / "other"), "run-1")
    with writer.open(0) as rows:
        rows.add_unread("x.csv", "text", "reason")
    writer.finish(keep_rows=True, refused=True)
    assert left(feed) == ([], 0)
    assert left(feed, table=tmp_path / "other") == (["refused"], 0)


def test_a_load_without_bad_rows_leaves_nothing(feed):
    feed.land("1.csv", BAD.replace("\n,p", "\na,p"))
    feed.run("csv")
    assert left(feed) == ([], 0)
    assert list(feed.quarantine.glob("run-*")) == []


def test_a_folder_whose_rows_a_purge_erased_is_no_load(feed):
    (feed.quarantine / "run-1").mkdir(parents=True)
    assert left(feed) == ([], 0)
