"""Tables that we bootstrap are Hudi's own: it reads them, updates them, and we go on after it."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from tests.interop.peer import PeerError
from tests.interop.rows import rows
from tests.interop.test_compaction import call
from tests.interop.test_cow import hudi_options
from tests.support.matrix import sample
from tests.support.sources import TABLE, contents, put

pytestmark = pytest.mark.interop


def bootstrapped(tmp_path, regex, name="{:06d}_0", **table):
    """Two partitions, whose values are only in folder names, of several files and row groups."""
    source = tmp_path / "source"
    for number in range(3):
        put(source, f"part={number % 2}/{name.format(number)}", [f"k{number}{n}" for n in range(20)], row_group_size=7)
    options = {"hoodie.bootstrap.base.path": str(source), "hoodie.bootstrap.mode.selector.regex": regex}
    run_bootstrap(BootstrapRequest(str(tmp_path / "t"), {**TABLE, **table}, options), SystemClock(), LocalEngine(2))
    return HoodieTable.open(str(tmp_path / "t")), source


def change(ours, ids, ts, value):
    """Rows to write; version 6 has the partition column as text, see `plan_bootstrap`."""
    parts = pa.array([int(key[1]) % 2 for key in ids], pa.int32())
    return pa.table(
        {
            "id": pa.array(ids),
            "ts": pa.array([ts] * len(ids), pa.int64()),
            "value": pa.array([value] * len(ids), pa.int64()),
            "part": parts.cast(ours.schema.field("part").type),
        }
    )


def read_and_write_on(ours, source, peer):
    """Theirs and ours in turn; equal rows after each."""
    before = contents(source)
    expected = rows(ours.read())
    assert len(expected) == 60
    assert rows(peer.read(ours.base_path)) == expected
    kind = ours.properties.table_type
    options = hudi_options(ours, True) | {"hoodie.datasource.write.table.type": kind}
    peer.write(
        ours.base_path,
        change(ours, ["k01", "k11", "k99"], 5, 50),
        {**options, "hoodie.datasource.write.operation": "upsert"},
    )
    seen = rows(ours.read())
    assert len(seen) == 61
    assert len(set(seen) - set(expected)) == 3
    assert seen == rows(peer.read(ours.base_path))
    ours.write(change(ours, ["k02", "k12", "k21", "k98"], 6, 60), "upsert")
    seen = rows(ours.read())
    assert len(seen) == 62
    assert sum(row[-1] == 60 for row in seen) == 4
    assert seen == rows(peer.read(ours.base_path))
    if ours.properties.is_merge_on_read:
        ours.schedule(COMPACTION, force=True)
        ours.run(COMPACTION)
        assert seen == rows(ours.read()) == rows(peer.read(ours.base_path))
    ours.write(change(ours, ["k02"], 7, 70), "delete")
    assert len(rows(ours.read())) == 61
    assert rows(ours.read()) == rows(peer.read(ours.base_path))
    assert contents(source) == before


@pytest.mark.format("14p", "14q")
@pytest.mark.parametrize(
    ("kind", "regex"), sample(product(["COPY_ON_WRITE", "MERGE_ON_READ"], [".*", "none", "part=0"]), 2)
)
def test_hudi_12_reads_and_writes_on(tmp_path, hudi12, kind, regex):
    ours, source = bootstrapped(tmp_path, regex, **{"hoodie.table.type": kind})
    read_and_write_on(ours, source, hudi12)


@pytest.mark.format("14p", "14q")
@pytest.mark.parametrize("kind", sample(["COPY_ON_WRITE", "MERGE_ON_READ"], 1))
def test_hudi_15_reads_and_writes_on_version_6(tmp_path, hudi15, kind):
    options = {"hoodie.table.type": kind, "hoodie.write.table.version": "6"}
    ours, source = bootstrapped(tmp_path, ".*", "{}.parquet", **options)  # it knows the format by the name
    read_and_write_on(ours, source, hudi15)


def test_plain_folders(tmp_path, hudi12):
    """The partition column is in the files; the folders are only its values."""
    source = tmp_path / "source"
    for part in ("x", "y"):
        put(source, f"{part}/data.parquet", [f"{part}{n}" for n in range(5)], part=part)
    table = {**TABLE, "hoodie.datasource.write.hive_style_partitioning": "false"}
    asked = BootstrapRequest(str(tmp_path / "t"), table, {"hoodie.bootstrap.base.path": str(source)})
    run_bootstrap(asked, SystemClock(), LocalEngine(2))
    ours = HoodieTable.open(asked.base_path)
    assert pc.count_distinct(ours.read()["part"]).as_py() == 2
    assert rows(hudi12.read(ours.base_path)) == rows(ours.read())


def test_types_and_folders_of_others_are_read_in_place(tmp_path, hudi12):
    """Preflight warns of exactly those source files that Hudi cannot read."""
    folder = tmp_path / "source" / "part=a%3Ab%2Fc"
    folder.mkdir(parents=True)
    good = {
        "dictionary": pa.array(["x", "y"]).dictionary_encode(),
        "small": pa.array([1, None], pa.uint8()),
        "unsigned": pa.array([1, 2**32 - 1], pa.uint32()),
        "milliseconds": pa.array([1, None], pa.timestamp("ms", "UTC")),
        "decimal": pa.array(["1.25", None]).cast(pa.decimal128(10, 2)),
        "list": pa.array([[1, None], None], pa.list_(pa.int32())),
    }
    bad = {
        "half": pa.array([1.5, None], pa.float16()),
        "nanoseconds": pa.array([1_000, None], pa.timestamp("ns", "UTC")),
    }
    write = {"use_compliant_nested_type": False, "use_dictionary": True}
    pq.write_table(pa.table({"id": ["a", "b"], "ts": [1, 1], **good}), folder / "x.parquet", **write)
    table = {**TABLE, "hoodie.datasource.write.partitionpath.urlencode": "true"}
    for name, more in (("good", {}), *((name, {name: column}) for name, column in bad.items())):
        if more:
            pq.write_table(pa.table({"id": ["a", "b"], "ts": [1, 1], **good, **more}), folder / "x.parquet", **write)
        asked = BootstrapRequest(
            str(tmp_path / name),
            table,
            {"hoodie.bootstrap.base.path": str(tmp_path / "source"), "hoodie.bootstrap.check.keys": "NONE"},
        )
        run_bootstrap(asked, SystemClock(), LocalEngine(2))
        ours = HoodieTable.open(asked.base_path).read()
        assert ours["part"].to_pylist() == ["a:b/c"] * 2
        if more:
            with pytest.raises(PeerError):
                hudi12.read(asked.base_path)
        else:
            theirs = hudi12.read(asked.base_path)
            assert rows(theirs, ours.column_names[5:]) == rows(ours, ours.column_names[5:])


def test_our_compaction_plan_of_skeletons_is_executed_by_hudi(tmp_path, hudi12):
    ours, source = bootstrapped(tmp_path, ".*", **{"hoodie.table.type": "MERGE_ON_READ"})
    before = contents(source)
    ours.write(change(ours, ["k01", "k11"], 5, 50), "upsert")
    time = ours.schedule(COMPACTION, force=True)
    waiting = rows(ours.read())
    call(hudi12, ours, "run", time)
    assert [i.time for i in ours.timeline.commits if i.action == "commit"] == [time]
    assert rows(ours.read()) == waiting == rows(hudi12.read(ours.base_path))
    assert sum(s.base_file.source is None for s in ours.file_slices()) == 2
    assert contents(source) == before
