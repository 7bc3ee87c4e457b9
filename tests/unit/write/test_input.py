"""Input of a write: everything that speaks Arrow's C stream, in pieces, and nothing of it is lost in silence."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import get_type_hints

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ArgumentError, ConfigError, DataError, RecordKeyError, SchemaConflictError
from hoodie.write import input as write_input
from tests.support.matrix import sample
from tests.support.tables import batch, content, create

ROWS = [("a", "p", 1, 10), ("b", "q", 2, 20), ("c", "p", 3, 30)]
STORED = {"a": ("p", 1, 10), "b": ("q", 2, 20), "c": ("p", 3, 30)}
PLAIN = {"hoodie.table.ordering.fields": "", "hoodie.table.partition.fields": ""}


def reader(table, size=1):
    return pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=size)))


def struct_array(table):
    return table.combine_chunks().to_batches()[0].to_struct_array()


TYPES = (write_input.ArrowStreamExportable, write_input.ArrowArrayExportable, write_input.EngineRows)
FORMS = {
    "table": lambda rows: rows,
    "record batch": lambda rows: rows.combine_chunks().to_batches()[0],
    "struct array": struct_array,
    "reader": reader,
    "pandas": lambda rows: rows.to_pandas(),
    "pandas with arrow types": lambda rows: rows.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with a key as index": lambda rows: rows.to_pandas().set_index("id"),
    "pandas, some rows in the middle": lambda rows: pa.concat_tables([rows, rows]).to_pandas().iloc[1:4],
    "polars": pl.from_arrow,
    "duckdb": lambda rows: duckdb.sql("select * from rows"),
    "duckdb reader": lambda rows: duckdb.sql("select * from rows").to_arrow_reader(),
}


@pytest.mark.parametrize("operation", ["insert", "bulk_insert", "upsert"])
@pytest.mark.parametrize("form", FORMS)
def test_whatever_streams_arrow_is_written(tmp_path, form, operation):
    table = create(tmp_path / "t")
    done = table.write(FORMS[form](batch(ROWS)), operation)
    assert done.rows_inserted == 3
    assert content(table) == STORED


@pytest.mark.parametrize("form", ["reader", "polars", "duckdb", "pandas"])
def test_keys_are_deleted_from_a_stream(tmp_path, form):
    table = create(tmp_path / "t")
    table.write(batch(ROWS))
    table.write(FORMS[form](batch(ROWS[:2]).select(["id", "part"])), "delete")
    assert content(table) == {"c": STORED["c"]}


@pytest.fixture
def pieces(monkeypatch):
    """Every stream is a long one."""
    monkeypatch.setattr(write_input, "_HELD_BYTES", 1)
    monkeypatch.setattr("hoodie.engine.stream_spool._FILE_BYTES", 2000)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("operation", ["insert", "bulk_insert", "upsert"])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_long_streams_are_written_whole(tmp_path, operation, parallelism):
    rows = batch([(f"k{i}", "pq"[i % 2], i, i) for i in range(1000)])
    table = create(tmp_path / "t", engine=LocalEngine(parallelism))
    assert table.write(reader(rows, 7), operation).rows_inserted == 1000
    assert content(table) == content(_held(tmp_path / "held", rows))


def _held(path, rows):
    table = create(path)
    table.write(rows)
    return table


@pytest.mark.usefixtures("pieces")
def test_of_rows_with_one_key_the_later_in_the_stream_stands(tmp_path):
    table = create(tmp_path / "t", engine=LocalEngine(3), **{"hoodie.table.ordering.fields": ""})
    table.write(reader(batch([(f"k{i % 10}", "p", 0, i) for i in range(1000)]), 3))
    assert {key: row[2] for key, row in content(table).items()} == {f"k{i}": 990 + i for i in range(10)}
    twice = batch([(f"k{i % 10}", "p", 0, i) for i in range(1000)])
    table.write(reader(twice, 3), "bulk_insert", {"hoodie.combine.before.insert": "true"})
    assert table.read().num_rows == 20


@pytest.mark.usefixtures("pieces")
def test_long_streams_with_dictionaries_and_views(tmp_path):
    rows = batch([(f"k{i}", "pq"[i % 2], i, i) for i in range(1000)])
    frame = pl.from_arrow(rows).with_columns(pl.col("part").cast(pl.Categorical))
    table = create(tmp_path / "t")
    table.write(pl.concat([frame[:500], frame[500:]], rechunk=False))
    assert content(table) == content(_held(tmp_path / "held", rows))


@pytest.mark.usefixtures("pieces")
def test_a_stream_that_does_not_fit_is_refused_before_it_is_read(tmp_path):
    read = []

    def batches():
        for number in range(1000):
            read.append(number)
            yield pa.record_batch({"id": [f"k{number}"], "ts": [1]})

    table = create(tmp_path / "t")
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64())])
    with pytest.raises(RecordKeyError, match="'part'"):
        table.write(pa.RecordBatchReader.from_batches(schema, batches()))
    assert len(read) < 10


@pytest.mark.parametrize("operation", ["bulk_insert", "upsert"])
@pytest.mark.parametrize("at", [1, 500])
@pytest.mark.parametrize("held", [1, 1 << 30])
def test_a_stream_that_fails_leaves_the_table_as_it_was(tmp_path, monkeypatch, operation, at, held):
    monkeypatch.setattr(write_input, "_HELD_BYTES", held)
    table = create(tmp_path / "t")
    table.write(batch(ROWS))
    before = content(table)
    rows = batch([(f"k{i}", "p", i, i) for i in range(1000)])

    def batches():
        for number, each in enumerate(rows.to_batches(max_chunksize=1)):
            if number == at:
                raise RuntimeError("the line is dead")
            yield each

    with pytest.raises(DataError, match=r"RecordBatchReader.*the line is dead") as caught:
        table.write(pa.RecordBatchReader.from_batches(rows.schema, batches()), operation)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert content(table) == before
    table.write(batch([("d", "p", 1, 1)]))
    assert len(content(table)) == 4


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"id": 1}], r"type list.*no Arrow C stream.*Table\.from_pylist"),
        ({"id": [1]}, r"type dict.*pyarrow\.table\(rows\)"),
        ((each for each in ()), r"type generator.*RecordBatchReader\.from_batches"),
        (pl.LazyFrame({"id": [1]}), r"type LazyFrame.*collect\(\)"),
        (None, "type NoneType.*give a pyarrow Table"),
        (7, "type int.*give a pyarrow Table"),
        ("rows.parquet", "type str.*hudi-services ingest"),
        (np.zeros(3), "type ndarray.*give a pyarrow Table"),
    ],
)
def test_what_is_not_arrow_is_named(tmp_path, rows, told):
    with pytest.raises(ArgumentError, match=told) as caught:
        create(tmp_path / "t").write(rows)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("rows", [pd.Series([1]), pa.chunked_array([[1]]), pl.Series([1]), pa.array([1])])
def test_one_column_is_no_table(tmp_path, rows):
    with pytest.raises((DataError, ArgumentError), match=r"not one column|to_frame\(\)"):
        create(tmp_path / "t").write(rows)


def test_a_query_that_fails_while_it_is_read(tmp_path):
    rows = duckdb.sql("select cast(i as varchar) as id, 'p' as part, i as ts, error('no') as value from range(9) t(i)")
    with pytest.raises(DataError, match="DuckDBPyRelation"):
        create(tmp_path / "t").write(rows)


def test_columns_of_objects_of_several_types(tmp_path):
    frame = pd.DataFrame({"id": ["a", "b"], "value": [1, "x"]})
    with pytest.raises(DataError, match=r"DataFrame cannot be read.*value"):
        create(tmp_path / "t", **PLAIN).write(frame)


def test_the_index_of_pandas_is_a_column_or_refused(tmp_path):
    table = create(tmp_path / "t")
    frame = batch(ROWS).to_pandas()
    with pytest.raises(SchemaConflictError, match=r"index.*has no name.*reset_index\(drop=True\)"):
        table.write(frame[frame.ts != 2])
    with pytest.raises(SchemaConflictError, match=r"index.*has no name"):
        table.write(pa.Table.from_pandas(frame[frame.ts != 2]))
    table.write(frame[frame.ts != 2].reset_index(drop=True))
    assert set(content(table)) == {"a", "c"}
    numbered = frame.rename_axis("number")
    with pytest.raises(SchemaConflictError, match=r"'number' of the DataFrame would be lost.*reset_index\(\)"):
        table.write(numbered)
    table.write(numbered.reset_index())
    assert table.schema.names == ["id", "part", "ts", "value", "number"]


def one(tmp_path, column, **options):
    """The column as it is read after it was written."""
    rows = pa.table({"id": pa.array([str(i) for i in range(len(column))]), "c": column})
    table = create(tmp_path / "t", **PLAIN)
    table.write(rows, options=options)
    found = table.read().sort_by("id")
    return found["c"].combine_chunks()


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (pa.array(["x", None, "é"], pa.large_string()), pa.string()),
        (pa.array(["x", None, "a long one, beyond what is inlined"], pa.string_view()), pa.string()),
        (pa.array([b"x", None, b"\xff" * 40], pa.binary_view()), pa.binary()),
        (pa.array(["x", None, "x"]).dictionary_encode(), pa.string()),
        (pa.array(["x", None, "x"], pa.large_string()).dictionary_encode(), pa.string()),
        (pa.array([1.5, None, -0.0], pa.float16()), pa.float32()),
        (pa.array([65504.0, float("inf"), 6e-8], pa.float16()), pa.float32()),
        (pa.array([4294967295, None, 0], pa.uint32()), pa.int64()),
        (pa.array([datetime(1969, 12, 31, 23, 59, 59, 999999), None], pa.timestamp("ns")), pa.timestamp("us")),
        (pa.array([datetime(1, 1, 1), None], pa.timestamp("s")), pa.timestamp("us")),
        (pa.array([datetime(2026, 1, 1, tzinfo=UTC)], pa.timestamp("ns", "Asia/Tokyo")), pa.timestamp("us", "UTC")),
        (pa.array([date(1969, 12, 31), None], pa.date64()), pa.date32()),
        (pa.array([Decimal("1.50"), None], pa.decimal256(38, 2)), pa.decimal128(38, 2)),
    ],
    ids=lambda each: str(getattr(each, "type", each)),
)
def test_types_that_a_table_holds_otherwise_lose_nothing(tmp_path, given, stored):
    found = one(tmp_path, given)
    assert found.type == stored
    decoded = given.dictionary_decode() if pa.types.is_dictionary(given.type) else given
    assert found.equals(pc.cast(decoded, stored))
    assert pc.cast(found, decoded.type).equals(decoded)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (pa.array([1], pa.timestamp("ns")), r"'c' has values that do not fit.*lose data"),
        (pa.array([1], pa.uint64()), r"'c' has a type.*uint64.*int64; to decimal128\(20, 0\)"),
        (pa.array([1], pa.duration("ms")), r"'c' has a type.*duration\[ms\].*int64, and give the unit"),
        (pa.array([1], pa.time64("us")), r"'c' has a type.*time64\[us\].*to string"),
        (pa.array([b"0" * 16], pa.uuid()), r"'c' has a type.*uuid.*cast it"),
        (pa.array([None]), "'c' has no type"),
    ],
    ids=lambda each: str(getattr(each, "type", "")),
)
def test_types_in_which_something_would_be_lost_are_refused(tmp_path, given, told):
    with pytest.raises(SchemaConflictError, match=told):
        one(tmp_path, given)


def test_types_of_pandas(tmp_path):
    frame = pd.DataFrame(
        {
            "id": ["a", "b"],
            "kind": pd.Categorical(["x", None]),
            "count": pd.array([1, None], "Int8"),
            "share": [0.5, float("nan")],
            "at": pd.to_datetime(["2026-01-01 00:00:00.123456", None]),
            "day": [date(2026, 1, 1), None],
        }
    )
    table = create(tmp_path / "t", **PLAIN)
    table.write(frame)
    assert table.read().sort_by("id").to_pylist() == [
        {
            "id": "a",
            "kind": "x",
            "count": 1,
            "share": 0.5,
            "at": datetime(2026, 1, 1, 0, 0, 0, 123456),
            "day": date(2026, 1, 1),
        },
        {"id": "b", "kind": None, "count": None, "share": None, "at": None, "day": None},
    ]
    late = pd.DataFrame({"id": ["c"], "at": [pd.Timestamp("2026-01-01") + pd.Timedelta(1, "ns")]})
    with pytest.raises(SchemaConflictError, match="'at'"):
        table.write(late)
    with pytest.raises(SchemaConflictError, match=r"'took'.*duration"):
        table.write(pd.DataFrame({"id": ["c"], "took": [pd.Timedelta(1)]}))
    with pytest.raises(SchemaConflictError, match=r"'month'.*cast it"):
        table.write(pd.DataFrame({"id": ["c"], "month": pd.PeriodIndex(["2026-01"], freq="M")}))


def test_paths_of_pathlib(tmp_path, monkeypatch):
    table = create(tmp_path / "t")
    table.write(batch(ROWS))
    assert content(HoodieTable.open(tmp_path / "t")) == STORED
    monkeypatch.chdir(tmp_path)
    assert content(HoodieTable.open(Path("t"))) == STORED
    made = HoodieTable.create(tmp_path / "u", {"hoodie.table.name": "u"})
    assert made.base_path == str(tmp_path / "u")
    for lost in (Path("s3://lake/t"), "s3:/lake/t"):  # a folder here, while the table is elsewhere
        with pytest.raises(ArgumentError, match=r"lost one of its slashes.*s3:/lake/t.*as text: s3://lake/t"):
            HoodieTable.create(lost, {"hoodie.table.name": "t"})
    for wrong in (None, 7, b"t", ["t"], "a\0b"):
        with pytest.raises(ArgumentError, match="neither text"):
            HoodieTable.open(wrong)
    with pytest.raises(ConfigError, match="empty"):
        HoodieTable.open("")


LONG = """
import resource, sys
import numpy as np
import pyarrow as pa
from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.operations import operation_named
from hoodie.config.options import options_for
from hoodie.write.input import write_input

rows, size, width = 2_000_000, 20_000, 400
table = HoodieTable.create(sys.argv[1], {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}, engine=LocalEngine(2))
noise = np.random.default_rng(1)

def piece(start):
    payload = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), size, [None, pa.py_buffer(noise.bytes(width * size))])
    return pa.record_batch({"id": pa.array(np.arange(start, start + size)), "payload": payload})

reader = pa.RecordBatchReader.from_batches(piece(0).schema, (piece(start) for start in range(0, rows, size)))
table.write(pa.table(piece(0)).slice(0, 10), "insert")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.argv[2] == "bulk_insert":
    written = table.write(reader, "bulk_insert").rows_inserted
else:
    with write_input(table.access, reader, None, operation_named(sys.argv[2]), options_for({}, WRITE_OPTIONS)) as given:
        written = sum(batch.num_rows for split in given.rows for batch in split.narrowed(["id"]).batches())
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(written, (after - before) // 1024)
"""


@pytest.mark.process
@pytest.mark.parametrize(("operation", "most"), sample([("bulk_insert", 550), ("upsert", 250)], 1))
def test_a_long_stream_is_never_whole_in_memory(tmp_path, operation, most):
    """Two million rows, 816 MB. For an upsert only the input before the write begins."""
    done = subprocess.run(
        [sys.executable, "-c", LONG, str(tmp_path / "t"), operation], capture_output=True, text=True, check=True
    )
    rows, megabytes = map(int, done.stdout.split())
    assert rows == 2_000_000
    assert megabytes < most


def test_the_type_of_rows_says_what_a_write_takes():
    """Type checkers refuse other objects. Each part of the type names one method, which the rows below have."""
    assert get_type_hints(HoodieTable.write)["rows"] == write_input.Rows
    stream, array, engine = ({name for name in vars(each) if name in _METHODS} for each in TYPES)
    rows = pa.table({"a": [1]})
    for given in (
        rows,
        rows.to_reader(),
        pd.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [1]}),
        duckdb.sql("SELECT 1 AS a"),
    ):
        assert all(hasattr(given, name) for name in stream), type(given)
    assert all(hasattr(rows.to_batches()[0], name) for name in array)
    assert engine == {"mapInArrow"}


_METHODS = ("__arrow_c_stream__", "__arrow_c_array__", "mapInArrow")
