"""Files of every format: torn lines and files, blocks, missing columns, types that differ."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hudi_services.sources.ingest.files.text
from hoodie import HoodieTable
from hoodie.errors import RecordKeyError, SchemaConflictError, SourceError, TableNotFoundError
from hoodie.keygen import PartitionPaths, RecordKeys
from hoodie.storage import open_storage
from hudi_services.sources.ingest.checks import RowChecks
from hudi_services.sources.ingest.files.listing import list_source
from hudi_services.sources.ingest.files.readers import file_splits
from hudi_services.sources.ingest.quarantine import Counts, QuarantineWriter
from hudi_services.sources.ingest.rows import CheckedSplit
from hudi_services.sources.ingest.shape.shape import Shape
from tests.support.tables import OPTIONS, batch

ROWS = batch([("a", "p", 1, 1), ("b", "q", 2, 2)])
CSV = "id,part,ts,value\na,p,1,1\nb,q,2,2\n"
JSON = [{"id": "a", "part": "p", "ts": 1, "value": 1}, {"id": "b", "part": "q", "ts": 2, "value": 2}]
LANDED = [
    pytest.param("parquet", "x.parquet", ROWS, id="parquet"),
    pytest.param("csv", "x.csv", CSV, id="csv"),
    pytest.param("csv", "x.csv.gz", CSV, id="csv.gz"),
    pytest.param("json", "x.json", JSON, id="json"),
    pytest.param("json", "x.json.gz", JSON, id="json.gz"),
    pytest.param("json", "x.jsonl.gz", JSON, id="jsonl.gz"),
    pytest.param("json", "x.ndjson.gz", JSON, id="ndjson.gz"),
    pytest.param("csv", "x.csv", "\ufeff" + CSV.replace("\n", "\r\n"), id="csv of Windows"),
    pytest.param("csv", "x.csv", CSV.removesuffix("\n"), id="csv without a last line break"),
    pytest.param(
        "json",
        "x.ndjson",
        '\n{"id": "a", "part": "p", "ts": 1, "value": 1}\n\n' + str(JSON[1]).replace("'", '"'),
        id="json with blank lines",
    ),
]


@pytest.mark.parametrize(("file_format", "name", "data"), LANDED)
def test_each_format_is_read(feed, file_format, name, data):
    feed.land(name, data)
    result = feed.run(file_format)
    assert feed.content == {"a": ("p", 1, 1), "b": ("q", 2, 2)}
    assert (result.rows_read, result.rows_inserted, result.rows_quarantined, result.files_read) == (2, 2, 0, 1)
    assert not list(feed.quarantine.iterdir())


def test_rows_of_a_wrong_width_are_quarantined_as_text(feed):
    feed.land("x.csv", CSV + "c,p,3\nd,p,4,4,4\n")
    assert feed.run("csv", max_bad_share=0.5).rows_quarantined == 2
    assert set(feed.content) == {"a", "b"}
    assert [(reason, text) for _, reason, text in feed.quarantined] == [
        ("line 4: 3 columns instead of 4", "c,p,3"),
        ("line 5: 5 columns instead of 4", "d,p,4,4,4"),
    ]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("line", ['{"id": "c", "part"', "no json", '{"id": "c"} {', '["c"]'])
def test_a_line_that_is_no_json_object_is_quarantined_as_text(feed, known, line):
    if known:
        HoodieTable.create(str(feed.table), OPTIONS, ROWS.schema)
    feed.land(
        "x.json",
        f'{{"id": "a", "part": "p", "ts": 1, "value": 1}}\n{line}\n{{"id": "b", "part": "q", "ts": 2, "value": 2}}\n',
    )
    assert feed.run("json", max_bad_share=0.5).rows_quarantined == 1
    assert set(feed.content) == {"a", "b"}
    assert [text for _, _, text in feed.quarantined] == [line]


@pytest.mark.parametrize("block", [40, 64, 1000])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.json", "x.json.gz"])
def test_rows_that_lie_across_blocks_are_read_once(feed, monkeypatch, name, block):
    monkeypatch.setattr(hudi_services.sources.ingest.files.text, "BLOCK", block)
    expected = {f"k{n}": ("p,\n" if n % 3 else 'q"', n, n) for n in range(40)}
    rows = [{"id": key, "part": part, "ts": ts, "value": value} for key, (part, ts, value) in expected.items()]
    quoted = [f'{row["id"]},"{row["part"].replace(chr(34), chr(34) * 2)}",{row["ts"]},{row["value"]}\n' for row in rows]
    feed.land(name, rows if "json" in name else "id,part,ts,value\n" + "".join(quoted))
    feed.run("json" if "json" in name else "csv")
    assert feed.content == expected
    assert feed.quarantined == []


def test_row_groups_of_a_great_file_are_read_once_by_any_number_of_tasks(feed, monkeypatch):
    monkeypatch.setattr(hudi_services.sources.ingest.files.text, "BLOCK", 1)
    rows = batch([(f"k{n}", "p", n, n) for n in range(100)])
    feed.land("1.parquet", rows.slice(0, 70))
    pq.write_table(rows.slice(0, 70), feed.source / "1.parquet", row_group_size=9)
    feed.land("2.parquet", rows.slice(70))
    storage = open_storage(str(feed.source))
    files = list_source(str(feed.source), "parquet", None)
    checks = RowChecks(
        ("id",), RecordKeys(("id",), with_names=False), PartitionPaths((), hive_style=True, url_encode=False)
    )
    shaping = Shape().plan(rows.schema, None, "land")
    for parallelism in (1, 2, 5, 50):
        writer = QuarantineWriter(str(feed.quarantine), str(feed.table), "run")
        found = file_splits(storage, "parquet", files, rows.schema, parallelism)
        splits = [
            CheckedSplit(each, "land", shaping, rows.schema, checks, writer, place) for place, each in enumerate(found)
        ]
        assert min(parallelism, 9) - 1 <= len(splits) <= 9
        read = pa.Table.from_batches([each for split in splits for each in split.batches()])
        assert read.equals(rows), "in the order of arrival"
        assert writer.totals() == Counts(100, 0, 0)
        writer.finish(keep_rows=True)


def test_text_that_is_no_utf_8_never_reaches_the_table(feed):
    lines = [b'{"id": "a", "part": "p", "ts": 1, "value": 1}', b'{"id": "gr\xfc", "part": "p", "ts": 1, "value": 1}']
    feed.land("x.json", b"\n".join(lines))
    assert feed.run("json", max_bad_share=0.5).rows_quarantined == 1
    assert set(feed.content) == {"a"}
    feed.land("y.csv", "id,part,ts,value\ngrü,p,1,1\n".encode("latin-1"))
    with pytest.raises(SourceError, match=r"y.csv cannot be read.*UTF8"):
        feed.run("csv")


@pytest.mark.parametrize(
    ("file_format", "name", "data"),
    [
        pytest.param("parquet", "2.parquet", b"", id="parquet empty"),
        pytest.param("parquet", "2.parquet", b"PAR1 and no more", id="parquet torn"),
        pytest.param("csv", "2.csv", b"", id="csv empty"),
        pytest.param("json", "2.json", b"", id="json empty"),
        pytest.param("json", "2.json", b"{{{", id="json without one object"),
        pytest.param("csv", "2.csv.gz", b"", id="csv.gz empty"),
        pytest.param("csv", "2.csv.gz", b"plain text", id="csv.gz that is none"),
        pytest.param("csv", "2.csv", b"id,part,ts,id\na,p,1,b\n", id="csv with one name twice"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_nothing_is_loaded(feed, file_format, name, data):
    feed.land(f"1.{file_format}", {"parquet": ROWS, "csv": CSV, "json": JSON}[file_format])
    feed.land(name, data)
    with pytest.raises(SourceError, match=rf"land/{name} cannot be read.*deliver it again"):
        feed.run(file_format)
    assert not feed.table.exists()


def torn(feed, name, data):
    feed.land(name, data)
    path = feed.source / name
    path.write_bytes(path.read_bytes()[: -path.stat().st_size // 3])


@pytest.mark.parametrize(
    ("file_format", "name"), [("csv", "2.csv.gz"), ("json", "2.json.gz"), ("parquet", "2.parquet")]
)
def test_a_truncated_file_is_named_and_nothing_of_the_run_is_loaded(feed, file_format, name):
    feed.land(f"1.{file_format}", {"parquet": ROWS, "csv": CSV, "json": JSON}[file_format])
    feed.run(file_format)
    before = feed.content
    feed.land(
        f"3.{file_format}",
        {"parquet": batch([("z", "p", 1, 1)]), "csv": CSV.replace("a,", "z,"), "json": JSON}[file_format],
    )
    many = [(f"k{n * 7919 % 1000}", "p", n, n) for n in range(1000)]
    torn(feed, name, batch(many) if file_format == "parquet" else "".join(f"{row}\n" for row in many))
    with pytest.raises(SourceError, match=rf"land/{name} cannot be read"):
        feed.run(file_format)
    assert feed.content == before
    assert len(feed.open().timeline) == 1
    (feed.source / name).unlink()
    assert feed.run(file_format).files_read == 1


def test_a_parquet_file_whose_pages_are_damaged_is_named(feed):
    feed.land("x.parquet", batch([(f"k{n}", "p", n, n) for n in range(5000)]))
    path = feed.source / "x.parquet"
    data = bytearray(path.read_bytes())
    data[4:2000] = bytes(1996)
    path.write_bytes(data)
    assert pq.read_schema(path).names, "the footer is whole: only reading finds the damage"
    with pytest.raises(SourceError, match=r"land/x.parquet cannot be read"):
        feed.run()
    assert feed.content == {}


def test_a_csv_file_with_a_header_and_no_rows_is_an_empty_delivery(feed):
    feed.land("1.csv", CSV)
    feed.land("2.csv", "id,part,ts,value\n")
    assert feed.run("csv").files_read == 2
    assert set(feed.content) == {"a", "b"}


def test_columns_that_a_file_lacks_are_null_and_new_ones_are_added(feed):
    feed.land("1.parquet", ROWS.drop_columns(["value"]))
    feed.land("2.parquet", ROWS.set_column(0, "id", pa.array(["c", "d"])).append_column("more", pa.array([1.5, None])))
    feed.run()
    rows = sorted(feed.open().read().to_pylist(), key=lambda row: row["id"])
    assert [(row["id"], row["value"], row["more"]) for row in rows] == [
        ("a", None, None),
        ("b", None, None),
        ("c", 1, 1.5),
        ("d", 2, None),
    ]


def test_numbers_of_two_widths_meet_in_the_wider(feed):
    feed.land("1.parquet", ROWS.set_column(3, "value", pa.array([1, 2], pa.int32())))
    feed.land("2.parquet", batch([("c", "p", 1, 2**40)]))
    feed.run()
    assert feed.content["c"] == ("p", 1, 2**40)
    assert feed.open().schema.field("value").type == pa.int64()


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_files_that_contradict_each_other_are_refused(feed, file_format):
    other = {
        "parquet": ROWS.set_column(3, "value", pa.array(["x", "y"])),
        "csv": CSV.replace(",1,1", ",1,x"),
    }[file_format]
    feed.land(f"1.{file_format}", {"parquet": ROWS, "csv": CSV}[file_format])
    feed.land(f"2.{file_format}", other)
    with pytest.raises(SchemaConflictError, match="value"):
        feed.run(file_format)
    assert not feed.table.exists()


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_guesses_that_differ_do_not_matter_where_the_table_knows_the_type(feed, file_format):
    schema = pa.schema([*list(ROWS.schema)[:3], pa.field("value", pa.string())])
    HoodieTable.create(str(feed.table), OPTIONS, schema)
    values = ["12", "2024-01-01", "n12"]
    for number, value in enumerate(values):
        text = f"id,part,ts,value\nk{number},p,1,{value}\n"
        feed.land(
            f"{number}.{file_format}",
            text if file_format == "csv" else [{"id": f"k{number}", "part": "p", "ts": 1, "value": value}],
        )
    feed.run(file_format)
    assert [value for _, _, value in feed.content.values()] == values


@pytest.mark.parametrize("file_format", ["parquet", "csv", "json"])
@pytest.mark.parametrize("missing", ["id", "part", "ts"])
def test_a_missing_key_partition_or_ordering_column_is_named_before_a_table_is_created(feed, file_format, missing):
    feed.land(
        f"x.{file_format}",
        {
            "parquet": ROWS.drop_columns([missing]),
            "csv": CSV.replace(missing + ",", "other,", 1),
            "json": [{name: value for name, value in row.items() if name != missing} for row in JSON],
        }[file_format],
    )
    with pytest.raises((SourceError, RecordKeyError), match=f"'{missing}'"):
        feed.run(file_format)
    assert not feed.table.exists()


@pytest.mark.parametrize(("column", "position"), [("id", 0), ("ts", 2)])
def test_null_keys_and_null_ordering_values_of_parquet_are_quarantined(feed, column, position):
    values = ROWS[column].to_pylist()
    feed.land("x.parquet", ROWS.set_column(position, ROWS.schema.field(column), [[values[0], None]]))
    assert feed.run(max_bad_share=0.5).rows_quarantined == 1
    assert set(feed.content) == {"a"}
    [(_, reason, row)] = feed.quarantined
    assert reason == f"row 2: column {column} is null or empty"
    assert row["value"] == 2


def test_a_file_of_keys_alone_deletes(feed):
    feed.land("1.parquet", ROWS)
    feed.run()
    feed.land("2.csv", "id,part\nb,q\nunknown,q\n")
    result = feed.run("csv", operation="delete")
    assert (result.rows_deleted, result.rows_read) == (1, 2)
    assert feed.content == {"a": ("p", 1, 1)}
    assert feed.open().schema.names == ["id", "part", "ts", "value"]


def test_a_delete_from_a_table_that_is_not_there_is_refused(feed):
    feed.land("1.csv", "id,part\nb,q\n")
    with pytest.raises(TableNotFoundError, match="nothing to delete"):
        feed.run("csv", operation="delete")
    assert not feed.table.exists()
