"""The writer of a query's batches: what it refuses, and what is in the table then."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, DataError, SchemaConflictError
from hoodie.spark.stream.batch_writer import BatchWriter, SinkWrites
from hoodie.spark.stream.batches import StreamBatch
from hoodie.write.change_rows import ChangeColumns
from tests.support.tables import SMALL_BLOOM, batch, content, create


def send(writer, number, rows):
    return writer.write(StreamBatch("q", number, "r"), rows, rows.schema, LocalEngine(2))


def test_a_batch_is_written_once(tmp_path):
    table = create(tmp_path / "t")
    writes = SinkWrites(table.base_path, "insert", SMALL_BLOOM)
    writer, rows = BatchWriter(writes), batch([("a", "p", 1, 1)])
    assert send(writer, 0, rows).rows_inserted == 1
    for again in (writer, BatchWriter(writes)):
        assert send(again, 0, rows) is None
        assert again.is_there(StreamBatch("q", 0, "r"))
    assert not writer.is_there(StreamBatch("q", 1, "r"))
    assert len(table.timeline.commits) == 1


def test_changes_that_cannot_be_applied_leave_the_batch_unwritten(tmp_path):
    table = create(tmp_path / "t")
    rows = batch([("a", "p", 1, 1)])
    writer = BatchWriter(SinkWrites(table.base_path, "upsert", SMALL_BLOOM, changes=ChangeColumns()))
    with pytest.raises(DataError, match="not known"):
        send(writer, 0, rows.append_column("op", pa.array(["q"])))
    assert not table.timeline.commits
    send(writer, 0, rows.append_column("op", pa.array(["i"])))
    assert content(table) == {"a": ("p", 1, 1)}
    for more in ({"operation": "insert"}, {"operation": "upsert", "deletions": "gone"}):
        with pytest.raises(ConfigError, match="applied by an upsert"):
            SinkWrites("t", options={}, changes=ChangeColumns(), **more).check()


def test_columns_change_in_the_middle_of_a_stream(tmp_path):
    """A new column is added; a type that conflicts is an error, after which the batch is written from corrected rows."""
    table = create(tmp_path / "t")
    writer = BatchWriter(SinkWrites(table.base_path, "upsert", SMALL_BLOOM))
    send(writer, 0, batch([("a", "p", 1, 1)]))
    rows = batch([("b", "p", 1, 1)])
    send(writer, 1, rows.append_column("more", pa.array([1])))
    with pytest.raises(SchemaConflictError):
        send(writer, 2, rows.append_column("more", pa.array(["x"])))
    send(writer, 2, batch([("c", "p", 1, 1)]))
    read = table.read()
    assert dict(zip(read["id"].to_pylist(), read["more"].to_pylist(), strict=True)) == {"a": None, "b": 1, "c": None}
    assert len(table.timeline.commits) == 3
