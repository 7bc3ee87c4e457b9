"""Notes of a run: every few seconds, and nothing that a storage raises stops it."""

from __future__ import annotations

import pytest

from hoodie.clock import SystemClock
from hoodie.storage import open_storage
from hudi_services.sources.cdc.progress_report import ProgressReport
from hudi_services.sources.cdc.sync_progress import Loading, LogRetention, ProgressStore

KEPT = LogRetention(86_400.0, "bin.000001:4", "2026-11-27T00:00:00+00:00")


@pytest.fixture
def store(tmp_path):
    return ProgressStore(open_storage(str(tmp_path)), "shop")


def test_a_run_notes_what_it_loads_every_few_seconds(store):
    seconds = [10.0]
    report = ProgressReport(store, SystemClock(), lambda: seconds[0])
    report.began()
    report.counted({"shop.a": 10, "shop.b": 20, "shop.other": 99})
    report.loads(["shop.a", "shop.b"])
    found = store.latest()
    assert (found.to_load, found.rows_to_load) == (2, 30)
    report.read("shop.a", 4)
    assert not store.latest().loading
    seconds[0] += 5
    report.read("shop.a", 9)
    assert store.latest().loading == {"shop.a": Loading(9, 10)}
    report.loaded("shop.a")
    report.loaded("shop.b")
    report.log_kept(KEPT)
    report.ended()
    found = store.latest()
    assert (found.loaded, found.rows_loaded, found.loading, found.kept) == (2, 9, {}, KEPT)
    assert found.ended


def test_a_run_begins_with_what_the_one_before_learned_of_the_log(store):
    first = ProgressReport(store, SystemClock())
    first.began()
    first.log_kept(KEPT)
    first.ended()
    ProgressReport(store, SystemClock()).began()
    found = store.latest()
    assert (found.kept, found.ended) == (KEPT, None)


def test_a_storage_that_refuses_stops_nothing(store, tmp_path, caplog):
    (tmp_path / "shop").write_text("a file where the folder should be")
    report = ProgressReport(store, SystemClock())
    report.began()
    report.loads(["shop.a"])
    report.ended()
    assert "cannot be stored" in caplog.text
