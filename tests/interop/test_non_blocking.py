"""Several writers append to one bucket (NBCC): ours and Hudi 1.2.0's, in turns and overlapped; both read the same rows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.index.buckets import fixed_file_id
from tests.interop.shared_table import both_at_once, hudi_options
from tests.support.history import make_version_8
from tests.support.rivals import QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.interop
NON_BLOCKING = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
BESIDE = {**SMALL_BLOOM, **BUCKET, **NON_BLOCKING}


@pytest.fixture(params=["9", pytest.param("8", marks=pytest.mark.deep("the same files"))])
def table(request, tmp_path):
    made = create(tmp_path / "t", QuickClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    if request.param == "8":
        make_version_8(made)
    return shared(tmp_path / "t")


def hudis(table, operation="upsert"):
    return {
        **hudi_options(table, attempts=100),
        **BUCKET,
        **NON_BLOCKING,
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.operation": operation,
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.compact.inline": "false",
        "hoodie.clean.automatic": "false",
    }


def as_hudi(hudi12, table):
    """The rows, which Hudi and the library read alike."""
    rows = content(shared(table.base_path))
    found = hudi12.read(table.base_path).to_pylist()
    assert {row["id"]: (row["part"], row["ts"], row["value"]) for row in found} == rows
    assert len(found) == len(rows)
    return rows


def ours(*rows, operation="upsert"):
    return lambda table: table.write(batch(rows), operation, BESIDE)


def test_hudi_writes_while_ours_is_at_work(table, hudi12):
    """The first writes of a bucket, then a compaction between two others: equal ordering values turn as with Hudi alone."""
    path = table.base_path
    first = Rival(path, ours(("a", "p", 2, 1), ("b", "p", 9, 1), ("tie", "p", 5, 1))).begin()
    hudi12.write(path, batch([("a", "p", 3, 2), ("b", "p", 1, 2), ("tie", "p", 5, 2), ("x", "q", 1, 2)]), hudis(table))
    assert first.finish() is None
    rows = {"a": ("p", 3, 2), "b": ("p", 9, 1), "tie": ("p", 5, 2), "x": ("q", 1, 2)}
    assert as_hudi(hudi12, table) == rows
    state = table.state()
    found = {stat.file_id for each in state.timeline.commits for stat in state.commit_metadata(each).stats}
    assert found <= {fixed_file_id(0), fixed_file_id(1)}, "both writers name the file groups alike"
    late = Rival(path, ours(("tie", "p", 5, 3), ("a", "p", 1, 3), ("c", "p", 1, 3))).begin()
    hudi12.write(path, batch([("b", "p", 0, 0), ("tie", "p", 5, 4)]), hudis(table))
    shared(path).schedule(COMPACTION, NON_BLOCKING, force=True)
    assert late.finish() is None
    rows |= {"tie": ("p", 5, 4), "c": ("p", 1, 3)}
    assert as_hudi(hudi12, table) == rows
    shared(path).run(COMPACTION, NON_BLOCKING)
    rows |= {"tie": ("p", 5, 3)}
    assert as_hudi(hudi12, table) == rows
    gone = Rival(path, ours(("a", "p", 0, 0), operation="delete")).begin()
    hudi12.write(path, batch([("b", "p", 0, 0)]), hudis(table, "delete"))
    assert gone.finish() is None
    assert as_hudi(hudi12, table) == {key: rows[key] for key in ("tie", "x", "c")}


@pytest.mark.deep("the same files, with Hudi's compaction")
def test_hudi_begins_and_compacts(table, hudi12):
    """Our write is at work while Hudi plans and carries out a compaction, and then while it writes to the new base file."""
    path = table.base_path
    ours(("zero", "q", 1, 0))(table)
    hudi12.write(path, batch([("a", "p", 2, 1), ("b", "p", 2, 1)]), hudis(table))
    late = Rival(path, ours(("a", "p", 5, 2), ("c", "p", 1, 2))).begin()
    lost = Rival(path, ours(("a", "p", 1, 3))).begin()
    options = "hoodie.compact.inline.max.delta.commits=1,hoodie.metadata.enable=false"
    hudi12.sql(f"call run_compaction(op => 'scheduleAndExecute', path => '{path}', options => '{options}')")
    assert late.finish() is None
    assert lost.finish() is None
    rows = {"zero": ("q", 1, 0), "a": ("p", 5, 2), "b": ("p", 2, 1), "c": ("p", 1, 2)}
    assert as_hudi(hudi12, table) == rows
    hudi12.write(path, batch([("b", "p", 3, 4), ("d", "r", 1, 4)]), hudis(table, "insert"))
    ours(("d", "r", 2, 5))(shared(path))
    rows |= {"b": ("p", 3, 4), "d": ("r", 2, 5)}
    assert as_hudi(hudi12, table) == rows
    assert HoodieTable.open(path).timeline.pending == ()


def test_after_a_dropped_partition_hudi_finds_our_file_groups(table, hudi12):
    """Hudi alone writes to the replaced file group, whose rows no reader sees. With a group of ours there it writes to that."""
    path = table.base_path
    ours(("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "p", 1, 1))(table)
    table.delete_partitions(["part=p"], {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"})
    ours(("a", "p", 1, 2), ("b", "p", 1, 2), ("c", "p", 1, 2))(shared(path))
    hudi12.write(path, batch([("a", "p", 3, 3), ("d", "p", 3, 3)]), hudis(table))
    assert as_hudi(hudi12, table) == {"a": ("p", 3, 3), "b": ("p", 1, 2), "c": ("p", 1, 2), "d": ("p", 3, 3)}


@pytest.mark.deep("the same calls, by chance in another order")
def test_both_at_once(table, hudi12):
    """Each write updates one key, with values in no order: none is refused, and the greatest value remains."""

    def hudi_writes(number):
        rows = [("same", "p", 100 - number, number), (f"hudi{number}", "p", 1, number)]
        hudi12.write(table.base_path, batch(rows), hudis(table))

    def we_write(number):
        ours(("same", "p", 50 - number, number), (f"ours{number}", "p", 1, number))(shared(table.base_path))

    assert both_at_once(hudi_writes, we_write) == []
    rows = as_hudi(hudi12, table)
    assert rows["same"] == ("p", 99, 1)
    assert len(rows) == 1 + 2 + 12


def test_a_table_of_hudi(tmp_path, recorded):
    """Its first log of a bucket, a deletion, and a bulk insert, which begins a file group of another name."""
    hudi = recorded("hudi12")
    path, table = tmp_path / "hudi", SimpleNamespace(version=9)
    options = {key: value for key, value in hudis(table).items() if key not in NON_BLOCKING}
    hudi.write(path, batch([("zero", "q", 1, 0)]), options, "overwrite")
    for rows, operation in (
        ([("a", "p", 5, 1), ("b", "p", 5, 1), ("c", "p", 5, 1)], "upsert"),
        ([("a", "p", 3, 2), ("b", "p", 7, 2), ("zero", "q", 2, 2)], "upsert"),
        ([("c", "p", 9, 3)], "delete"),
        ([("d", "r", 1, 4)], "bulk_insert"),
        ([("d", "r", 2, 5)], "upsert"),
    ):
        hudi.write(path, batch(rows), hudis(table, operation))
    rows = {"a": ("p", 5, 1), "b": ("p", 7, 2), "zero": ("q", 2, 2), "d": ("r", 2, 5)}
    assert {row["id"]: (row["part"], row["ts"], row["value"]) for row in hudi.read(path).to_pylist()} == rows
    made = hudi.table(path)
    ours_too = HoodieTable.open(made)
    assert content(ours_too) == rows
    ours(("d", "r", 3, 6), ("e", "r", 1, 6), ("f", "s", 1, 6))(ours_too)
    rows |= {"d": ("r", 3, 6), "e": ("r", 1, 6), "f": ("s", 1, 6)}
    assert content(HoodieTable.open(made)) == rows
    ids = {
        stat.group
        for each in ours_too.state().timeline.commits
        for stat in ours_too.state().commit_metadata(each).stats
    }
    assert (
        sum(group.partition == "part=p" and group.file_id.endswith("-0000-0000-0000-000000000000-0") for group in ids)
        == 2
    )
