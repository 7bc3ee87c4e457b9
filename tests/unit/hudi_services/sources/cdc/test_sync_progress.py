"""The file of a run's progress: replaced by the next note, never in the way of a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hoodie.storage import open_storage
from hudi_services.sources.cdc.sync_progress import Loading, LogRetention, ProgressStore, SyncProgress

NOW = datetime(2026, 11, 26, tzinfo=UTC)
KEPT = LogRetention(86_400.0, "bin.000001:4", "2026-11-27T00:00:00+00:00")
PROGRESS = SyncProgress(NOW.isoformat(), NOW.isoformat(), None, KEPT, {"shop.ä": Loading(5, 10)}, 1, 3, 7, 30)


def test_the_newest_note_comes_back(tmp_path):
    store, reader = (ProgressStore(open_storage(str(tmp_path)), "shop") for _ in range(2))
    assert reader.latest() is None
    store.put(PROGRESS)
    assert reader.latest() == PROGRESS
    store.put(SyncProgress("2026-11-26T00:00:00+00:00", "2026-11-26T00:00:01+00:00"))
    assert reader.latest().kept is None
    assert PROGRESS.rows_read == 12


def test_a_note_does_not_replace_one_of_another_process(tmp_path):
    first, second = (ProgressStore(open_storage(str(tmp_path)), "shop") for _ in range(2))
    first.put(PROGRESS)
    second.latest()
    second.put(SyncProgress(PROGRESS.began, PROGRESS.noted, loaded=9))
    first.put(SyncProgress(PROGRESS.began, PROGRESS.noted, loaded=2))
    assert first.latest().loaded == 9


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"began": "x", "noted": "y", "kept": null, "loading": {}}', b"\xff"]
)
def test_a_file_that_cannot_be_read_is_as_none(tmp_path, body):
    store = ProgressStore(open_storage(str(tmp_path)), "shop")
    store.put(PROGRESS)
    (tmp_path / "shop" / "progress.json").write_bytes(body)
    assert store.latest() is None
    store.put(PROGRESS)
    assert store.latest() == PROGRESS


def test_a_run_that_is_silent_for_long_no_longer_goes_on():
    assert PROGRESS.goes_on(NOW + timedelta(minutes=9))
    assert not PROGRESS.goes_on(NOW + timedelta(minutes=11))
    assert not SyncProgress(PROGRESS.began, PROGRESS.noted, PROGRESS.noted).goes_on(NOW)
