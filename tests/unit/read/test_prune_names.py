"""Folders that a filter leaves out, by their names alone: no table is there."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.properties.table import TableProperties
from hoodie.keygen import folder_values
from hoodie.read.prune import PartitionFilter

part = pc.field("part")


def choices(schema, condition, **options):
    properties = TableProperties({"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id", **options})
    values = folder_values(properties, schema)
    return PartitionFilter(condition, schema, values)


def test_folders_that_others_named():
    schema = pa.schema([("part", pa.int32()), ("id", pa.string())])
    fields = {"hoodie.table.partition.fields": "part"}
    # Zeros before a number, as folders of a bootstrapped table have; hive style that no property names; no number at all.
    paths = ["01", "2", "part=1", "part=3", "one", "__HIVE_DEFAULT_PARTITION__", "default", "1/2"]
    assert choices(schema, part == 1, **fields).partitions(paths) == ["01", "part=1", "one", "1/2"]
    assert choices(schema, part.is_null(), **fields).partitions(paths) == [
        "one",
        "__HIVE_DEFAULT_PARTITION__",
        "default",
        "1/2",
    ]
    text = pa.schema([("part", pa.string())])
    assert choices(text, part == "a/b", **fields).partitions(["a%2Fb", "a/b", "a", "part=a%2Fb"]) == [
        "a%2Fb",
        "a/b",
        "part=a%2Fb",
    ]
    assert choices(text, part == "", **fields).partitions(["", "x", "default"]) == ["", "default"]
    double = pa.schema([("part", pa.float64())])
    # A float's folder keeps its name when the column becomes a double.
    assert choices(double, part == float(pa.scalar(0.1, pa.float32()).as_py()), **fields).partitions(
        ["0.1", "0.2", "0.0", "NaN"]
    ) == ["0.1", "0.0", "NaN"]
    assert choices(pa.schema([("other", pa.int32())]), pc.field("other") == 1, **fields).partitions(["1"]) == ["1"]


def test_days_of_a_table_that_does_not_say_that_it_has_them():
    """Hudi's DataFrame writer takes `slash.separated.date.partitioning` as an option of the write and does not keep it."""
    for kind in (pa.string(), pa.date32()):
        day = part == pa.scalar("2026-01-02").cast(kind)
        chosen = choices(pa.schema([("part", kind)]), day, **{"hoodie.table.partition.fields": "part"})
        assert chosen.folders(["2025", "2026"]) == ["2026"]
        assert chosen.folders(["2026/01", "2026/02"]) == ["2026/01"]
        assert chosen.partitions(["2026/01/02", "2026/01/03", "2026-01-02"]) == ["2026/01/02", "2026-01-02"]


def test_folders_of_which_nothing_is_known():
    paths = ["2026/01/02", "1970/01/01"]
    numbers = pa.schema([("part", pa.int64())])
    stamped = {
        "hoodie.table.partition.fields": "part",
        "hoodie.table.keygenerator.type": "TIMESTAMP",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    }
    assert choices(numbers, part == 1, **stamped).partitions(paths) == paths  # as Hudi 0.15 leaves it: without the type
    stamped["hoodie.keygen.timebased.timestamp.type"] = "UNIX_TIMESTAMP"
    assert choices(numbers, part == 1, **stamped).partitions(paths) == paths[1:]
    near = (part == 1_767_225_599) | part.is_null()  # a second before 2026, in a zone that no property names
    assert choices(numbers, near, **stamped).partitions(["2026/01/01", "2026/01/02", "1970/01/01"]) == [
        "2026/01/01",
        "1970/01/01",
    ]
    stamped["hoodie.keygen.timebased.output.dateformat"] = "MM/dd/yy"
    assert choices(numbers, part == 1, **stamped).partitions(["01/02/26"]) == ["01/02/26"]
    both = pa.schema([("text", pa.string()), ("part", pa.struct([("x", pa.string())]))])
    fields = {"hoodie.table.partition.fields": "text,part"}
    assert choices(both, pc.field("text") == "a", **fields).folders(['a/{"x":"b', 'b/{"x":"a']) == ['a/{"x":"b']
    assert choices(both, pc.field("text") == "a", **fields).partitions(['a/{"x":"b/c"}']) == ['a/{"x":"b/c"}']
    dropped = TableProperties({**fields, "hoodie.datasource.write.drop.partition.columns": "true"})
    assert folder_values(dropped, both) is None


def test_a_filter_that_cannot_be_computed_of_a_folder_leaves_it_in():
    schema = pa.schema([("part", pa.string())])
    chosen = choices(schema, part.cast(pa.int32()) == 5, **{"hoodie.table.partition.fields": "part"})
    assert chosen.partitions(["x", "5", "6"]) == ["x", "5"]
