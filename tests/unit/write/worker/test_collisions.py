"""Rows that only share the text of their record key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import RecordKeyError


def test_rows_that_only_share_the_text_of_their_key_are_refused(tmp_path):
    """Combined, one of them would be lost. Inserted, the next upsert would update both. In two partitions both are stored."""
    table = create(tmp_path / "t", "p")
    rows = pa.table({"a": ["x,b:y", "x"], "b": ["z", "y,b:z"], "p": ["1", "1"], "n": [1, 2]})
    split = [pa.table(rows.slice(0, 1)), pa.table(rows.slice(1))]
    for batches in (rows, pa.concat_tables(split)):
        with pytest.raises(RecordKeyError, match=r"values of a, b have one record key.*'a:x,b:y,b:z' in 2 rows"):
            table.write(batches, "upsert")
    combines = {"hoodie.combine.before.insert": "true"}
    for operation, options in (("insert", {}), ("insert_overwrite", {}), ("bulk_insert", combines)):
        with pytest.raises(RecordKeyError, match="one record key"):
            table.write(rows, operation, options)
    assert table.timeline.commits == ()
    table.write(rows.set_column(2, "p", pa.array(["1", "2"])), "upsert")
    assert table.read().num_rows == 2
    table.write(pa.concat_tables([rows.slice(0, 1)] * 2), "insert")
    assert table.read().num_rows == 4, "rows of one key and the same values are inserted side by side, as in Hudi"


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize(
    ("stored", "comes"),
    [(("x,b:y", "z"), ("x", "y,b:z")), (("k", None), ("k", "__null__")), (("__empty__", "k"), ("", "k"))],
)
def test_a_stored_row_that_only_shares_the_text_of_a_key_stays(tmp_path, kind, stored, comes):
    """An upsert would overwrite it and a delete would remove it. The row with the values of the stored one updates it."""
    table = create(tmp_path / "t", "", **{"hoodie.table.type": kind})
    table.write(row(*stored, 1))
    table.write(row(*stored, 2))
    for operation in ("upsert", "delete"):
        with pytest.raises(RecordKeyError, match=r"values of a, b have one record key.*too; Hudi's keys"):
            table.write(row(*comes, 3), operation)
    assert [(r["a"], r["b"], r["n"]) for r in table.read().to_pylist()] == [(*stored, 2)]
    table.write(row(*stored, 3), "delete")
    table.write(row(*comes, 4))
    assert [(r["a"], r["b"], r["n"]) for r in table.read().to_pylist()] == [(*comes, 4)]


def row(a, b, n):
    return pa.table({"a": [a], "b": pa.array([b], pa.string()), "n": [n]})


def create(path, partitions, **more):
    keys = {"hoodie.table.recordkey.fields": "a,b", "hoodie.table.partition.fields": partitions}
    return HoodieTable.create(str(path), {"hoodie.table.name": "t", **keys, **more})
