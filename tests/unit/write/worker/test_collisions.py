"""Rows that only share the text of their record key, or their partition path."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
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
def test_rows_of_a_bulk_insert_that_only_share_the_text_of_their_key_stay(tmp_path, kind):
    """A bulk insert compares no keys: its workers do not exchange rows. No later write takes one of the two for the other."""
    table = create(tmp_path / "t", "", **{"hoodie.table.type": kind})
    one, other = ("x,b:y", "z"), ("x", "y,b:z")
    table.write(pa.concat_tables([row(*one, 1), row(*other, 2), row("k", "l", 3)]), "bulk_insert")
    for key in (one, other):
        for operation in ("upsert", "delete"):
            with pytest.raises(RecordKeyError, match="one record key"):
                table.write(row(*key, 9), operation)
    table.write(row("k", "l", 4))
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    stored = sorted((r["n"], r["a"], r["b"]) for r in table.read().to_pylist())
    assert stored == [(1, *one), (2, *other), (4, "k", "l")]


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


@pytest.mark.parametrize(("kind", "version"), [("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "6")])
@pytest.mark.parametrize(
    ("hive_style", "stored", "comes"),
    [
        ("false", ("a/b", "c"), ("a", "b/c")),
        ("true", ("a/q=b", "c"), ("a", "b/q=c")),
        ("false", ("a/b", None), ("a", "b/__HIVE_DEFAULT_PARTITION__")),
    ],
)
def test_rows_that_only_share_their_partition_path_are_refused(tmp_path, kind, version, hive_style, stored, comes):
    """One of two such rows in a batch would be lost. A stored one would be overwritten or deleted."""
    more = {"hoodie.table.type": kind, "hoodie.write.table.version": version}
    table = partitioned(tmp_path / "t", {"hoodie.datasource.write.hive_style_partitioning": hive_style, **more})
    both = pa.concat_tables([placed(*stored, 1), placed(*comes, 2)])
    for operation in ("upsert", "insert"):
        with pytest.raises(RecordKeyError, match=r"values of p, q have one partition path.* in 2 rows.*urlencode"):
            table.write(both, operation)
    table.write(placed(*stored, 1))
    table.write(placed(*stored, 2))
    for operation in ("upsert", "delete"):
        with pytest.raises(RecordKeyError, match=r"values of p, q have one partition path.*, too; Hudi's paths"):
            table.write(placed(*comes, 3), operation)
    assert [(r["p"], r["q"], r["n"]) for r in table.read().to_pylist()] == [(*stored, 2)]
    table.write(placed(*comes, 4).set_column(0, "a", pa.array(["l"])))
    assert table.read().num_rows == 2, "rows of other keys share a folder"
    table.write(placed(*stored, 5), "delete")
    assert [(r["p"], r["q"], r["n"]) for r in table.read().to_pylist()] == [(*comes, 4)]


def test_paths_do_not_count_for_a_global_index(tmp_path):
    """There a row is named by its key, so the two are versions of one row."""
    table = partitioned(tmp_path / "t", {})
    both = pa.concat_tables([placed("a/b", "c", 1), placed("a", "b/c", 2)])
    table.write(both, "upsert", {"hoodie.index.type": "GLOBAL_SIMPLE"})
    assert [(r["p"], r["q"], r["n"]) for r in table.read().to_pylist()] == [("a", "b/c", 2)]


def partitioned(path, more):
    keys = {"hoodie.table.recordkey.fields": "a,b", "hoodie.table.partition.fields": "p,q"}
    return HoodieTable.create(str(path), {"hoodie.table.name": "t", **keys, **more})


def placed(p, q, n):
    return pa.table({"a": ["k"], "b": ["l"], "p": [p], "q": pa.array([q], pa.string()), "n": [n]})


def row(a, b, n):
    return pa.table({"a": [a], "b": pa.array([b], pa.string()), "n": [n]})


def create(path, partitions, **more):
    keys = {"hoodie.table.recordkey.fields": "a,b", "hoodie.table.partition.fields": partitions}
    return HoodieTable.create(str(path), {"hoodie.table.name": "t", **keys, **more})
