"""Columns that a feed declares: read as declared, and what does not fit is quarantined with its line."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import ConfigError, SourceError
from hudi_services.entry.feed.arrow import type_text
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.files.typed_rows import Fitting
from tests.support.tables import batch

KEYS = {"id": "string", "part": "string", "ts": "bigint"}
UTC_TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def declared(columns, **more):
    return Feed.model_validate({"schema": {**KEYS, **columns}, **more})


def values(feed, *names):
    rows = feed.open().read(columns=["id", *names]).to_pylist()
    return {row["id"]: tuple(row[name] for name in names) if len(names) > 1 else row[names[0]] for row in rows}


@pytest.mark.parametrize(
    ("kind", "given", "expected", "stored"),
    [
        ("string", "7", "7", pa.string()),
        ("string", "1e5", "1e5", pa.string()),
        ("int", "7", 7, pa.int32()),
        ("smallint", "+7", 7, pa.int32()),
        ("double", "7", 7.0, pa.float64()),
        ("decimal(10,2)", "7", Decimal("7.00"), pa.decimal128(10, 2)),
        ("decimal(5,1)", " 7.5 ", Decimal("7.5"), pa.decimal128(5, 1)),
        ("boolean", "TRUE", True, pa.bool_()),
        ("date", "2026-01-02", date(2026, 1, 2), pa.date32()),
        ("timestamp", "2026-01-02 03:04:05", UTC_TIME, pa.timestamp("us", "UTC")),
        ("timestamp", "2026-01-02T04:04:05+01:00", UTC_TIME, pa.timestamp("us", "UTC")),
        ("timestamp", "2026-01-02", datetime(2026, 1, 2, tzinfo=UTC), pa.timestamp("us", "UTC")),
        ("timestamp_ntz", "2026-01-02 03:04:05", UTC_TIME.replace(tzinfo=None), pa.timestamp("us")),
        ("binary", "ab", b"ab", pa.binary()),
    ],
)
def test_a_csv_column_has_the_declared_type(feed, kind, given, expected, stored):
    feed.land("x.csv", f'id,part,ts,value\n007,p,1,"{given}"\n008,p,1,\n')
    feed.run("csv", declared=declared({"value": kind}))
    assert feed.open().schema.field("value").type == stored
    assert values(feed, "value") == {"007": expected, "008": None}


MISFITS = [
    ("tinyint", "128"),
    ("bigint", "1.0"),
    ("bigint", "9223372036854775808"),
    ("bigint", "0x10"),
    ("decimal(5,2)", "1.005"),
    ("decimal(5,2)", "1000.00"),
    ("date", "2026-02-30"),
    ("date", "2.1.2026"),
    ("timestamp", "soon"),
    ("timestamp_ntz", "2026-01-02 03:04:05Z"),
    ("boolean", "yes"),
    ("double", "1,5"),
    ("float", "1e39"),
]


@pytest.mark.parametrize(("kind", "text"), MISFITS)
def test_a_csv_value_that_does_not_fit_is_quarantined_with_line_column_and_text(feed, kind, text):
    feed.land("x.csv", f'id,part,ts,value\na,p,1,\n"b\nb",p,1,"{text}"\nc,p,1,\n')
    result = feed.run("csv", declared=declared({"value": kind}), max_bad_share=0.5)
    assert (result.rows_read, result.rows_inserted, result.rows_quarantined) == (3, 2, 1)
    assert set(values(feed, "value")) == {"a", "c"}
    [(file, reason, row)] = feed.quarantined
    assert (file, reason.partition(": ")[0], reason.partition(": ")[2].partition(": ")[0]) == (
        "x.csv",
        "line 3",
        "column value",
    )
    assert text in reason
    assert row["value"] == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [each for each in MISFITS if each[0] not in ("tinyint", "boolean", "double") and each[1] != "0x10"],
)
def test_so_is_one_of_json(feed, kind, text):
    value = (
        text
        if kind in ("date", "timestamp", "timestamp_ntz")
        else float(text)
        if "." in text or "e" in text
        else int(text)
    )
    feed.land("x.json", [{"id": "a", "part": "p", "ts": 1}, {"id": "b", "part": "p", "ts": 1, "value": value}])
    assert feed.run("json", declared=declared({"value": kind}), max_bad_share=0.5).rows_quarantined == 1
    assert set(values(feed, "value")) == {"a"}
    [(file, reason, _)] = feed.quarantined
    assert (file, reason.partition(":")[0]) == ("x.json", "line 2")


def test_parquet_values_are_cast_or_quarantined_with_their_row(feed):
    rows = batch([("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "p", 1, 3)])
    feed.land("x.parquet", rows.set_column(3, "value", pa.array(["1.50", "1.505", None])))
    assert feed.run(declared=declared({"value": "decimal(5,2)"}), max_bad_share=0.5).rows_quarantined == 1
    assert values(feed, "value") == {"a": Decimal("1.50"), "c": None}
    assert feed.quarantined[0][1].startswith("row 2: column value: ")


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
def test_defaults_stand_where_there_is_no_value(feed, file_format):
    given = {"a": 5, "b": None}
    rows = batch([(key, "p", 1, value) for key, value in given.items()])
    lines = [f"{key},p,1,{value if value is not None else ''}\n" for key, value in given.items()]
    data = {
        "csv": "id,part,ts,value\n" + "".join(lines),
        "json": [{"id": key, "part": "p", "ts": 1, **({"value": 5} if value else {})} for key, value in given.items()],
        "parquet": rows,
    }[file_format]
    feed.land(f"x.{file_format}", data)
    columns = {
        "value": {"type": "int", "default": 0, "nullable": False},
        "price": {"type": "decimal(5,2)", "default": 9.5},
        "city": {"type": "string", "default": ""},
        "at": {"type": "timestamp", "default": "2026-01-02T05:04:05+02:00"},
        "none": "date",
    }
    feed.run(file_format, declared=declared(columns))
    others = (Decimal("9.50"), "", UTC_TIME, None)
    assert values(feed, *columns) == {"a": (5, *others), "b": (0, *others)}


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
@pytest.mark.parametrize("missing", [False, True])
def test_a_row_without_a_required_value_is_quarantined(feed, file_format, missing):
    rows = [{"id": "a", "part": "p", "ts": 1}, {"id": "b", "part": "p", "ts": 1, "value": 1}]
    if missing:
        rows.pop()
        rows.append({"id": "b", "part": "p", "ts": 1})
    data = {
        "csv": "id,part,ts\na,p,1\nb,p,1\n" if missing else "id,part,ts,value\na,p,1,\nb,p,1,1\n",
        "json": rows,
        "parquet": batch([(row["id"], "p", 1, row.get("value")) for row in rows]),
    }[file_format]
    feed.land(f"x.{file_format}", data)
    feed.run(file_format, declared=declared({"value": {"type": "bigint", "nullable": False}}), max_bad_share=1.0)
    assert values(feed, "value") == ({} if missing else {"b": 1})
    place = "row 1" if file_format == "parquet" else "line 2" if file_format == "csv" else "line 1"
    assert feed.quarantined[0][:2] == (
        f"x.{file_format}",
        f"{place}: column value has no value, and is declared with nullable: false",
    )
    assert len(feed.quarantined) == 1 + missing


MORE = {
    "csv": "id,part,ts,value,extra\na,p,1,1,x\n",
    "json": [{"id": "a", "part": "p", "ts": 1, "value": 1, "extra": "x"}],
    "parquet": batch([("a", "p", 1, 1)]).append_column("extra", pa.array(["x"])),
}


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
def test_columns_that_are_not_declared(feed, file_format):
    """Refused, kept or dropped; in JSON, where each row has its own, a row with one is quarantined."""
    feed.land(f"x.{file_format}", MORE[file_format])
    with pytest.raises(SourceError) as raised:
        feed.run(file_format, declared=declared({"value": "bigint"}))
    if file_format == "json":
        assert "1 of 1 rows" in str(raised.value)
        assert "extra" in feed.quarantined[0][1]
    else:
        assert "has the undeclared column 'extra'. Found: `schema` of the source declares " in str(raised.value)
        assert ". To do: add `extra: string`, or its type, to `schema`, or say `undeclared: keep`" in str(raised.value)
        assert "files: skip" not in str(raised.value)
        assert not feed.table.exists()
    feed.run(file_format, declared=declared({"value": "bigint"}, undeclared="drop"))
    assert feed.open().schema.names == ["id", "part", "ts", "value"]
    feed.run(file_format, declared=declared({"value": "bigint"}, undeclared="keep"), reload=True)
    assert values(feed, "value", "extra") == {"a": (1, "x")}


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_a_header_of_another_delimiter_is_named(feed, sign):
    rows = "id,part,ts,value\na,p,1,1\n".replace(",", sign)
    feed.land("x.csv", rows)
    with pytest.raises(SourceError, match=r"To do: write `csv: \{delimiter: ") as raised:
        feed.run("csv", declared=declared({"value": "bigint"}))
    (remedy,) = re.findall(r"`csv: (.*?)`", str(raised.value))
    feed.run("csv", declared=declared({"value": "bigint"}, csv=yaml.safe_load(remedy)))
    assert values(feed, "value") == {"a": 1}


def test_a_name_that_differs_in_case_is_named(feed):
    feed.land("x.csv", "id,part,ts,Value\na,p,1,1\n")
    with pytest.raises(SourceError, match=r"`Value` in place of `value` .* `rename: \{Value: value\}`"):
        feed.run("csv", declared=declared({"value": "bigint"}))
    feed.run("csv", declared=declared({"Value": "bigint"}, rename={"Value": "value"}))
    assert values(feed, "value") == {"a": 1}


@pytest.mark.parametrize("undeclared", ["refuse", "keep", "drop"])
def test_fields_of_structs_that_are_not_declared(feed, undeclared):
    rows = batch([("a", "p", 1, 1)])
    feed.land("x.parquet", rows.set_column(3, "value", pa.array([{"x": 1, "y": 2}])))
    more = {"value": "struct<x: bigint>"}
    if undeclared == "refuse":
        with pytest.raises(
            SourceError, match=r"undeclared column 'value.y'.* add the field to the type of `value` in `schema`"
        ):
            feed.run(declared=declared(more))
        return
    feed.run(declared=declared(more, undeclared=undeclared))
    assert values(feed, "value") == {"a": {"x": 1, "y": 2} if undeclared == "keep" else {"x": 1}}


def test_columns_stand_in_the_declared_order_and_names_need_no_quotes(feed):
    feed.land("x.csv", "ts,größe,part,id\n1,2,p,a\n")
    feed.run("csv", declared=declared({"größe": "int"}))
    assert feed.open().schema.names == ["id", "part", "ts", "größe"]


def test_the_default_of_another_type_is_named_before_anything_is_looked_at(feed):
    with pytest.raises(
        ConfigError, match=r"default of column 'value' does not fit its type.*'soon', which is not a date"
    ):
        feed.prepare("csv", declared=declared({"value": {"type": "date", "default": "soon"}}))


def test_a_key_that_is_a_number_in_the_files_is_text_in_the_table(feed):
    feed.land("1.csv", "id,part,ts\n7,1,1\n")
    feed.run("csv", declared=declared({}))
    feed.land("2.csv", "id,part,ts\n007,01,2\n7,1,3\n")
    feed.run("csv", declared=declared({}))
    assert values(feed, "part", "ts") == {"7": ("1", 3), "007": ("01", 2)}


def test_a_new_table_with_a_declared_ordering_column_may_be_of_no_rows(feed):
    feed.land("1.csv", "id,part,ts\n")
    assert feed.run("csv", declared=declared({})).files_read == 1


@pytest.mark.parametrize("layout", ["[%s]", "[\n%s\n]\n", "\ufeff [ %s ] \n\n"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_objects_of_one_array(feed, monkeypatch, layout, indent, block):
    monkeypatch.setattr("hudi_services.sources.ingest.files.text.BLOCK", block)
    rows = [{"id": f"k{n}", "part": "p", "ts": n, "value": {"x": ["},{", n]} if n % 2 else None} for n in range(1, 6)]
    feed.land(
        "x.json", layout % ",".join(json.dumps({**row, "value": str(row["value"])}, indent=indent) for row in rows)
    )
    feed.run("json", declared=Feed.model_validate({"json": {"layout": "array"}}))
    assert values(feed, "ts", "value") == {row["id"]: (row["ts"], str(row["value"])) for row in rows}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('{"id": "a"}', "no start of an array"),
        ('[{"id": "a"}', "does not end"),
        ('[{"id": "a", ]', "is not valid JSON, or does not end"),
        ('[{"id": "a"}] x', "follows the end"),
        ("", "empty file"),
        ("[]", "no JSON object"),
        ("[" * 100_000, "is not valid JSON, or does not end"),
    ],
)
def test_an_array_that_is_none_is_named(feed, data, told):
    feed.land("x.json", data)
    with pytest.raises(SourceError, match=f"x.json cannot be read.*{told}"):
        feed.run("json", declared=Feed.model_validate({"json": {"layout": "array"}}))


def test_json_of_another_encoding(feed):
    feed.land("x.json", '{"id": "grün", "part": "p", "ts": 1}\n'.encode("latin-1"))
    feed.run("json", declared=Feed.model_validate({"json": {"encoding": "latin-1"}}))
    assert set(values(feed, "part")) == {"grün"}


PLAIN = {
    pa.string(): st.text(alphabet="ab ,;'\"\n#", min_size=1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.decimal128(12, 3): st.decimals(-(10**8), 10**8, places=3),
    pa.float64(): st.floats(allow_nan=False),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(UTC)),
}


@given(st.data(), st.sampled_from(list(PLAIN)))
def test_what_is_written_as_text_is_read_as_declared(data, kind):
    """Each value as Arrow writes it."""
    column = pa.chunked_array([data.draw(st.lists(st.none() | PLAIN[kind], max_size=5))], kind)
    feed = Feed.model_validate({"schema": {"x": type_text(kind)}})
    rejected = []
    read, _ = Fitting(pa.schema([("x", kind)]), feed, "csv").fitted(
        pa.table({"x": column.cast(pa.string())}),
        lambda places: [f"line {each}" for each in places],
        lambda *each: rejected.append(each),
    )
    assert rejected == []
    assert read["x"].combine_chunks().equals(column.combine_chunks())


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
def test_what_is_cast_or_parsed_later_is_left_as_it_stands(feed, file_format):
    """Also where it is declared: `schema` names what the files have."""
    rows = [
        {"id": "a", "part": "p", "ts": 1, "value": "1234.5", "at": "31.12.2025", "day": "2026-01-02", "code": "007"}
    ]
    said = {
        "schema": {**KEYS, "value": "string", "at": "timestamp", "day": "date", "code": "string", "none": "string"},
        "csv": {"delimiter": ";", "decimal_mark": ",", "thousands_mark": "."} if file_format == "csv" else {},
        "rename": {"value": "amount", "none": "number"},
        "timestamps": {"at": {"formats": "%d.%m.%Y", "zone": "UTC"}},
        "cast": {"amount": "decimal(10,2)", "code": "int", "number": "bigint"},
    }
    data = {
        "csv": "id;part;ts;value;at;day;code\na;p;1;1.234,5;31.12.2025;2026-01-02;007\n",
        "json": rows,
        "parquet": pa.Table.from_pylist(rows),
    }[file_format]
    feed.land(f"x.{file_format}", data)
    feed.run(file_format, declared=said)
    expected = (Decimal("1234.50"), datetime(2025, 12, 31, tzinfo=UTC), date(2026, 1, 2), 7, None)
    assert values(feed, "amount", "at", "day", "code", "number") == {"a": expected}


BERLIN = pa.timestamp("us", "Europe/Berlin")
NOON = datetime(2026, 1, 2, 12)


@pytest.mark.parametrize(
    ("kind", "fits", "misfit", "given"),
    [
        ("decimal(10,2)", 1.5, 1.005, pa.float64()),
        ("decimal(10,2)", Decimal("1.500"), Decimal("1.005"), pa.decimal128(10, 3)),
        ("date", datetime(2026, 1, 2), NOON, pa.timestamp("us")),
        ("date", datetime(2026, 1, 2), NOON, pa.timestamp("ns", "UTC")),
        ("boolean", 1, 5, pa.int64()),
        ("boolean", 1.0, 0.5, pa.float64()),
        ("float", 1.5, 1e300, pa.float64()),
        ("double", 2**53, 2**53 + 1, pa.int64()),
        ("double", Decimal(2**53), Decimal(2**53 + 1), pa.decimal128(20, 0)),
        ("timestamp_ntz", None, NOON, BERLIN),
        ("timestamp", None, 1_700_000_000, pa.int64()),
        ("date", None, 20_260_102, pa.int32()),
        ("array<decimal(10,2)>", [1.5], [1.005], pa.list_(pa.float64())),
        ("struct<a: date>", {"a": datetime(2026, 1, 2)}, {"a": NOON}, pa.struct([("a", pa.timestamp("us"))])),
        ("array<timestamp_ntz>", None, [NOON], pa.list_(BERLIN)),
    ],
)
def test_a_value_of_a_parquet_file_does_not_become_another_one(feed, kind, fits, misfit, given):
    rows = {"id": ["fits", "not"], "part": ["p", "p"], "ts": [1, 1], "value": pa.array([fits, misfit], given)}
    feed.land("x.parquet", pa.table(rows))
    result = feed.run(declared=declared({"value": kind}), max_bad_share=1)
    assert (result.rows_inserted, result.rows_quarantined) == (1, 1)
    assert set(values(feed, "value")) == {"fits"}
    ((_, reason, row),) = feed.quarantined
    assert (row["id"], "row 2: column value: " in reason) == ("not", True)


def test_times_of_a_parquet_file_without_a_zone_are_in_utc_where_moments_are_declared(feed):
    times = {"at": pa.array([NOON]), "all": pa.array([[NOON, None]]), "deep": pa.array([{"at": NOON, "n": 1}])}
    feed.land("x.parquet", pa.table({"id": ["a"], "part": ["p"], "ts": [1], **times}))
    kinds = {"at": "timestamp", "all": "array<timestamp>", "deep": "struct<at: timestamp, n: int>"}
    feed.run(declared=declared(kinds))
    noon = NOON.replace(tzinfo=UTC)
    assert values(feed, *kinds) == {"a": (noon, [noon, None], {"at": noon, "n": 1})}
