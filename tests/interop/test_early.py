"""Conflicts that markers show while both write: of ours and Hudi 1.2.0's writer the later one gives up before its commit."""

from __future__ import annotations

import threading

import pytest

from hoodie.errors import EarlyConflictError
from hoodie.markers import read_markers
from hoodie.storage import walk_files
from hoodie.transaction.leftovers import marked_instants
from tests.interop.peer import PeerError
from tests.interop.shared_table import batch, create_shared, hudi_options, ids
from tests.support.matrix import diagonal
from tests.support.rivals import OCC, Rival, shared
from tests.support.waiting import until

pytestmark = pytest.mark.interop
EARLY = "hoodie.write.concurrency.early.conflict.detection.enable"
MARKERS = {"direct": "DIRECT", "timeline_server_based": "TIMELINE_SERVER_BASED"}
OPTIONS = {
    **OCC,
    "hoodie.parquet.small.file.limit": 0,
    "hoodie.write.lock.wait_time_ms": 10_000,
    "hoodie.write.num.retries.on.conflict.failures": 0,
    EARLY: "true",
}


@pytest.fixture
def table(request, tmp_path):
    return create_shared(tmp_path / "t", request.param)


def hudis(table, markers, **more):
    options = {**hudi_options(table, attempts=100), "hoodie.parquet.small.file.limit": "0", EARLY: "true"}
    return {**options, "hoodie.write.markers.type": MARKERS[markers], **more}


def ours(markers, *keys):
    return lambda table: table.write(batch(*keys), "upsert", {**OPTIONS, "hoodie.write.markers.type": markers})


@pytest.mark.parametrize(("table", "markers"), diagonal(["9", "6"], MARKERS), indirect=["table"])
def test_hudi_sees_our_markers(table, hudi12, markers):
    """Its strategy for the type looks at markers of that type alone; ours has written its files and not committed yet."""
    first = Rival(table.base_path, ours(markers, "first"), written=True).begin()
    more, rows = {}, ["first"]
    if (
        markers == "timeline_server_based"
    ):  # its server looks now and then, from the first marker on: another has to come later
        more["hoodie.write.concurrency.async.conflict.detector.initial_delay_ms"] = "0"
        more["hoodie.write.concurrency.async.conflict.detector.period_ms"] = "10"
        more["hoodie.copyonwrite.insert.auto.split"] = "false"
        more["hoodie.copyonwrite.insert.split.size"] = "1"  # a file for each new row
        rows += [f"new{number}" for number in range(30)]
    before = {file.path for file in walk_files(table.storage, "") if file.name.endswith(".parquet")}
    with pytest.raises(PeerError, match=r"[Ee]arly.?[Cc]onflict"):
        hudi12.write(table.base_path, batch(*rows), hudis(table, markers, **more))
    assert len(table.timeline.commits) == 1
    assert before <= {file.path for file in walk_files(table.storage, "")}, "it has taken nothing of ours back"
    assert first.finish() is None
    hudi12.write(table.base_path, batch("hudi"), hudis(table, markers, **more))
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ["first", "hudi"]


@pytest.mark.parametrize(("table", "of_ours", "markers"), diagonal(["6", "9"], MARKERS, MARKERS), indirect=["table"])
def test_we_see_the_markers_of_a_hudi_that_is_at_work(table, hudi12, markers, of_ours):
    errors = []

    def write():
        try:
            hudi12.write(table.base_path, batch("first"), hudis(table, markers))
        except PeerError as error:
            errors.append(error)

    running = threading.Thread(target=write)
    running.start()
    until(lambda: any(read_markers(table.storage, each) for each in marked_instants(table.storage)), pause=0)
    with hudi12.still():
        assert len(table.timeline.pending) == 1, "it has made its markers, and not committed yet"
        later = shared(table.base_path)
        with pytest.raises(EarlyConflictError, match="gave up early"):
            ours(of_ours, "first")(later)
        ours(of_ours, "other")(later)
    running.join()
    assert errors == []
    ours(of_ours, "first")(later)
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ["first", "other"]
