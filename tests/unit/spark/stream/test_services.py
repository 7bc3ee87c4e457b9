"""Services beside the batches of a stream."""

from __future__ import annotations

import threading

from hoodie.engine import LocalEngine
from hoodie.spark.stream import services as module
from hoodie.spark.stream.batch_writer import BatchWriter, SinkWrites
from hoodie.spark.stream.batches import StreamBatch
from hoodie.timeline import Action
from tests.support.tables import SMALL_BLOOM, batch, content, create

OPTIONS = {
    **SMALL_BLOOM,
    "hoodie.parquet.small.file.limit": "0",  # updates go to logs
    "hoodie.compact.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "2",
}


def test_batches_go_on_while_services_run(tmp_path):
    """Nothing of either is lost, and the table gets its compactions."""
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    writer = BatchWriter(SinkWrites(table.base_path, "upsert", OPTIONS, services_beside=True))
    for number in range(8):
        rows = batch([("a", "p", number, number), (f"k{number}", "p", 1, number)])
        done = writer.write(StreamBatch("q", number, "r"), rows, rows.schema, LocalEngine(2))
        assert done.services == (), "they are not those of the write"
    writer.services.wait()
    assert content(table) == {"a": ("p", 7, 7), **{f"k{number}": ("p", 1, number) for number in range(8)}}
    commits = table.timeline.commits
    assert len([each for each in commits if each.action.completed_as is Action.DELTA_COMMIT]) == 8
    assert len(commits) > 8, "there was a compaction"


def test_one_run_at_a_time(tmp_path, monkeypatch, caplog):
    """A batch does not wait for the services of the last one, and a failure of theirs is not the batch's."""
    ends, runs = threading.Event(), []

    def opened(*place, **engine):
        runs.append(place)
        ends.wait(10)
        raise OSError("the disk is gone")

    monkeypatch.setattr(module.HoodieTable, "open", opened)
    services = module.ServicesBeside(str(tmp_path), OPTIONS)
    services.wait()
    assert services.start()
    assert not services.start()
    ends.set()
    services.wait()
    assert services.start()
    services.wait()
    assert len(runs) == 2
    assert "did not run: the disk is gone" in caplog.text
