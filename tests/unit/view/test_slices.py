"""The slices of a table at a moment."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION, Restore
from hoodie.errors import MissingFileError
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

APART = {**OCC, "hoodie.parquet.small.file.limit": 0}


def upsert(table, *rows, **options):
    return table.write(batch(rows), "upsert", {**SMALL_BLOOM, **options}).instant.time


def test_as_of_a_write_that_was_complete_after_a_compaction_was_planned(tmp_path):
    """It inserts a row, which is in a base file, and updates one, which is in a log beside the compaction's base file."""
    table = create(tmp_path / "t", QuickClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    upsert(table, ("a", "p", 1, 1))
    upsert(table, ("a", "p", 2, 2))
    rows = batch([("a", "p", 3, 3), ("b", "p", 3, 3)])
    late = Rival(tmp_path / "t", lambda each: each.write(rows, "upsert", APART)).begin()
    planned = table.schedule(
        COMPACTION, {"hoodie.write.concurrency.mode": OCC["hoodie.write.concurrency.mode"]}, force=True
    )
    assert late.finish() is None
    table = shared(tmp_path / "t")
    written = table.timeline.commits[-1].time
    assert written < planned
    whole = {"a": ("p", 3, 3), "b": ("p", 3, 3)}
    assert content(table, as_of=written) == whole
    table.run(COMPACTION)
    assert content(table) == content(table, as_of=written) == whole
    assert content(table, as_of=table.timeline.commits[1].time)["a"] == ("p", 2, 2)

    table.savepoint(written)
    (log,) = [log for each in table.file_slices() for log in each.log_files if log.time == written]
    for value in (5, 6, 7):
        upsert(table, ("a", "p", value, value))
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted
    assert content(table, as_of=written) == whole
    kept = table.storage.read(log.path)
    table.storage.delete(log.path)
    with pytest.raises(MissingFileError, match=log.info.name):
        table.read(as_of=written)
    table.storage.create(log.path, kept)
    table.run(Restore(written))
    assert content(table) == whole
