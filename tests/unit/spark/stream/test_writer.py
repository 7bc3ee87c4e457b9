"""The writer that Spark makes for a batch: its tasks stage rows, and its end has them written."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from hoodie.errors import EngineError
from hoodie.spark.stream import writer as module
from hoodie.spark.stream.sink_options import SinkRequest
from tests.support.tables import batch, create

ROWS = batch([("a", "p", 1, 1), ("b", "p", 1, 1)])


def made(table, **options):
    request = SinkRequest.of({"path": str(table.base_path), **options}, overwrite=False)
    return module.StreamWriter(request, from_arrow_schema(ROWS.schema), "/nowhere", "r")


@pytest.mark.parametrize("limit", [1 << 20, 0])
def test_rows_of_tasks_come_to_one_write(tmp_path, monkeypatch, limit):
    """Few rows travel with the message of their task, more of them in files, which go away with the batch."""
    monkeypatch.setattr(module, "_MESSAGE_BYTES", limit)
    table = create(tmp_path / "t")
    asked = []
    monkeypatch.setattr(module, "ask", lambda address, work: asked.append((work, read(work))))
    messages = [made(table).write(iter(rows.to_batches())) for rows in (ROWS, ROWS.slice(0, 0), ROWS)]
    messages = pickle.loads(pickle.dumps(messages))
    folder = tmp_path / "t" / ".hoodie" / ".staged"
    assert folder.exists() == (limit == 0)
    made(table).commit([*messages, None], 3)
    ((work, rows),) = asked
    assert (work.batch, work.rows, work.run_token) == (3, 4, "r")
    assert rows.equals(pa.concat_tables([ROWS, ROWS]))
    assert not list(folder.glob("*"))


def test_rows_of_a_batch_that_fails_go_away(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MESSAGE_BYTES", 0)
    table = create(tmp_path / "t")
    writer = made(table)
    messages = [writer.write(iter(ROWS.to_batches()))]
    with pytest.raises(EngineError, match="does not answer"):
        writer.commit(messages, 0)
    assert list((tmp_path / "t" / ".hoodie" / ".staged").glob("*"))
    made(table).abort([*messages, None], 0)
    assert not list((tmp_path / "t" / ".hoodie" / ".staged").glob("*"))


def read(work):
    return pa.Table.from_batches([batch for split in work.splits for batch in split.batches()], work.schema)
