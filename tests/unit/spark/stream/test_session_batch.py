"""Batches of `writeStream.format("hoodie")`, killed and started again, without Spark's session."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from hoodie.engine import LocalEngine
from hoodie.engine.splits import ArrowSplit
from hoodie.errors import StreamBatchError
from hoodie.spark.staging import stage
from hoodie.spark.stream import session_batch
from hoodie.spark.stream.session_batch import StagedBatch
from hoodie.spark.stream.sink_options import SinkRequest
from hoodie.table import HoodieTable
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, content, create


def staged(path, number, rows, run="r", **options):
    given = {"path": str(path), "hoodie.stream.query.name": "q", **OPTIONS, **SMALL_BLOOM, **options}
    request = SinkRequest.of({name: str(value) for name, value in given.items()}, overwrite=False)
    return StagedBatch(request, rows.schema, number, run, rows.num_rows, (ArrowSplit(rows),))


def at(work, storage):
    """The same batch through another storage, as by another process."""
    writes = replace(work.request.writes, base_path=storage)
    return replace(work, request=replace(work.request, writes=writes), run_token=f"{work.run_token}{id(storage)}")


def test_the_first_batch_makes_the_table(tmp_path):
    for number in (0, 1, 1):
        staged(tmp_path / "t", number, batch([("a", "p", number, number), (str(number), "p", 1, 1)])).write(
            LocalEngine(2)
        )
    staged(tmp_path / "t", 2, batch([])).write(LocalEngine(2))
    table = HoodieTable.open(tmp_path / "t")
    assert content(table) == {"a": ("p", 1, 1), "0": ("p", 1, 1), "1": ("p", 1, 1)}
    assert len(table.timeline.commits) == 2


def test_runs_of_one_query_are_fenced(tmp_path):
    rows, engine = batch([("a", "p", 1, 1)]), LocalEngine(2)
    staged(tmp_path / "t", 0, rows, "first").write(engine)
    staged(tmp_path / "t", 1, rows, "second").write(engine)
    with pytest.raises(StreamBatchError, match="another run of the query"):
        staged(tmp_path / "t", 2, rows, "first").write(engine)
    staged(tmp_path / "t", 2, rows, "second").write(engine)


def test_staged_files_and_rows_in_memory(tmp_path):
    table = create(tmp_path / "t")
    work = staged(tmp_path / "t", 0, batch([("a", "p", 1, 1)]))
    files = stage(table.access.storage, ".hoodie/.staged/1-x", batch([("b", "p", 1, 2)]).to_batches(), work.schema)
    replace(work, rows=2, splits=(*work.splits, *files)).write(LocalEngine(2))
    assert content(table) == {"a": ("p", 1, 1), "b": ("p", 1, 2)}


def test_a_batch_whose_writer_is_killed_anywhere_is_there_once(tmp_path):
    """The table is made by the first batch, which may be killed, too."""
    rows, options = batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), {"hoodie.datasource.write.operation": "insert"}
    for number in count(1, 6):
        path = tmp_path / str(number)
        try:
            at(staged(path, 0, rows, "first", **options), FaultyStorage(path, number)).write(LocalEngine(2))
            ended = True
        except Killed:
            ended = False
        staged(path, 0, rows, f"second{number}", **options).write(LocalEngine(2))
        assert HoodieTable.open(path).read().num_rows == 2, number
        if ended:
            break
    assert number > 20, "it died at some calls"


def test_large_batches_are_for_sparks_tasks(tmp_path, monkeypatch):
    rows = batch([("a", "p", 1, 1), ("b", "p", 1, 1)])
    assert staged(tmp_path, 0, rows).is_small
    assert not staged(tmp_path, 0, rows, **{"hoodie.stream.local.rows": 1}).is_small
    monkeypatch.setattr(session_batch, "DEFAULT_MEMORY", rows.nbytes - 1)
    assert not staged(tmp_path, 0, rows).is_small
