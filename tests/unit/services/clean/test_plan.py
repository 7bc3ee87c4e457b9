"""A clean looks at the partitions that changed, also by a commit that completed late."""

from __future__ import annotations

from hoodie import CLEAN
from hoodie.services.clean.plan import last_clean
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import batch, create

VERSIONS = {**OCC, "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1}
APART = {**OCC, "hoodie.parquet.small.file.limit": 0}


def upsert(table, part, value):
    table.write(batch([("a", part, value, value)]), "upsert", APART)


def clean(table):
    """The partitions in which it deletes files, and its result."""
    assert table.run(CLEAN, VERSIONS) is not None
    found = last_clean(table.state())
    return [*found.deleted], found


def test_a_commit_that_completed_after_a_clean_is_cleaned_by_the_next(tmp_path):
    table = create(tmp_path / "t", QuickClock())
    for part, value in [("p", 1), ("q", 1), ("p", 2)]:
        upsert(table, part, value)
    late = Rival(tmp_path / "t", lambda each: upsert(each, "q", 2)).begin()
    table = shared(tmp_path / "t")
    upsert(table, "r", 1)
    deleted, first = clean(table)
    assert deleted == ["part=p"]
    assert late.finish() is None
    assert table.timeline.commits[-2].time < first.last_completed, "it began before"
    assert clean(table)[0] == ["part=q"]
