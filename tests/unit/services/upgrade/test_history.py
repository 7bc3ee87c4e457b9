"""The archive of version 6 as the history of later versions."""

from __future__ import annotations

from datetime import UTC

import pytest

from hoodie.errors import CorruptTableError
from hoodie.services.upgrade import history
from hoodie.services.upgrade.history import write_history
from hoodie.timeline import Action, LayoutV2
from hoodie.timeline.archive.lsm_writer import LsmArchiveWriter
from tests.support.upgrades import with_history

NEW = LayoutV2(UTC)


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    return with_history(tmp_path / "t", request.param, archived=True)


def test_each_instant_is_there_and_says_what_it_did(table, monkeypatch):
    monkeypatch.setattr(history, "_BATCH", 1)
    old = table.state().archive
    write_history(table.storage, old, NEW)
    new = NEW.open_archive(table.storage)
    assert len(old.instants()) > 1
    assert [each.key for each in new.instants()] == [each.key for each in old.instants()]
    for before, after in zip(old.instants(), new.instants(), strict=True):
        assert after.completion_time == after.time == before.time
        if after.action is Action.CLEAN:
            assert new.clean_result(after) == old.clean_result(before)
        else:
            assert new.commit_metadata(after) == old.commit_metadata(before)


def test_an_instant_that_is_not_written_stops_the_upgrade(table, monkeypatch):
    add = LsmArchiveWriter.add
    monkeypatch.setattr(LsmArchiveWriter, "add", lambda self, entries: add(self, entries[1:]))
    with pytest.raises(CorruptTableError, match="has not the instants of its archive"):
        write_history(table.storage, table.state().archive, NEW)


def test_without_an_archive_there_is_no_history(tmp_path):
    table = with_history(tmp_path / "t", "COPY_ON_WRITE")
    write_history(table.storage, table.state().archive, NEW)
    assert not table.storage.list(NEW.archive_folder).files
