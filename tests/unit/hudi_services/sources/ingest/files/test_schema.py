"""Columns of source files: wherever they appear, and numbers of any size."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import HoodieTable
from hoodie.errors import SchemaConflictError, SourceError
from hudi_services.sources.ingest.files import text
from tests.support.tables import OPTIONS, batch

ROWS = batch([("a", "p", 1, 1), ("b", "q", 2, 2)])
ROW = {"id": "a", "part": "p", "ts": 1, "value": 1}
MORE_THAN_4_MIB = [{**ROW, "id": f"k{n}", "note": "x" * 100} for n in range(36_000)]
STRUCT = pa.struct([("x", pa.int64())])
NESTED = pa.schema([*list(ROWS.schema)[:3], ("of", STRUCT), ("items", pa.list_(STRUCT))])


def column(feed, name):
    return {row["id"]: row[name] for row in feed.open().read(columns=["id", name]).to_pylist()}


def test_a_json_column_that_first_appears_late_in_a_file_is_loaded(feed):
    feed.land("x.json", [*MORE_THAN_4_MIB, {**ROW, "late": 5}])
    feed.run("json", operation="bulk_insert")
    assert column(feed, "late")["a"] == 5


def test_a_late_json_column_is_added_to_a_table_that_is_there(feed):
    feed.land("1.json", [ROW])
    feed.run("json")
    feed.land("2.json", [*MORE_THAN_4_MIB, {**ROW, "late": {"x": [1.5]}}])
    feed.run("json", operation="bulk_insert")
    assert {"x": [1.5]} in feed.open().read(columns=["late"])["late"].to_pylist()


@pytest.mark.parametrize("name", ["of", "items"])
def test_a_new_field_inside_a_struct_of_the_table_is_added(feed, name):
    HoodieTable.create(str(feed.table), OPTIONS, NESTED)
    given = {"x": 1, "y": "new"}
    row = {"id": "a", "part": "p", "ts": 1, name: given if name == "of" else [given, {"x": 2}]}
    feed.land("x.json", [row, {"id": "b", "part": "p", "ts": 1, name: None}])
    feed.run("json")
    expected = given if name == "of" else [given, {"x": 2, "y": None}]
    assert column(feed, name) == {"a": expected, "b": None}


@pytest.mark.parametrize("name", ["of", "items"])
def test_new_fields_inside_structs_of_parquet_are_added(feed, name):
    HoodieTable.create(str(feed.table), OPTIONS, NESTED)
    given = {"x": 1, "y": "new"}
    keys = ROWS.slice(0, 1).select(["id", "part", "ts"])
    feed.land("1.parquet", keys.append_column(name, pa.array([given if name == "of" else [given]])))
    older = pa.array([{"x": 2} if name == "of" else [{"x": 2}]])
    feed.land("2.parquet", keys.set_column(0, "id", pa.array(["b"])).append_column(name, older))
    feed.run()
    second = {"x": 2, "y": None}
    assert column(feed, name) == {"a": given if name == "of" else [given], "b": second if name == "of" else [second]}


def test_a_column_that_only_a_later_file_has_is_added(feed):
    feed.land("1.csv", "id,part,ts,value\na,p,1,1\n")
    feed.land("2.csv", "id,part,more,ts,value\nb,p,x,1,1\n")
    feed.run("csv")
    assert column(feed, "more") == {"a": None, "b": "x"}


LATER = [
    pytest.param([1, 2, 3.5], None, [1.0, 2.0, 3.5], id="int then fraction"),
    pytest.param(
        ["2024-01-01", "2024-01-02", "soon"], pa.string(), ["2024-01-01", "2024-01-02", "soon"], id="day, text"
    ),
    pytest.param([None, None, 7], pa.int64(), [None, None, 7], id="null then int"),
]


@pytest.mark.parametrize(("values", "kind", "expected"), LATER)
@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_a_type_that_changes_later_in_a_file(feed, monkeypatch, file_format, values, kind, expected):
    monkeypatch.setattr(text, "BLOCK", 60)
    values = [value for value in values[:2] for _ in range(60)] + values[2:]
    rows = [{"id": f"k{n}", "part": "p", "ts": 1, "value": value} for n, value in enumerate(values)]
    if file_format == "csv":
        lines = [",".join(str(each) if each is not None else "" for each in row.values()) for row in rows]
        feed.land("x.csv", "\n".join(["id,part,ts,value", *lines]))
    else:
        feed.land("x.json", rows)
    feed.run(file_format)
    fraction = pa.float64() if file_format == "json" else pa.decimal128(38, 2)  # what is written in digits stays exact
    assert feed.open().schema.field("value").type == (kind or fraction)
    assert [column(feed, "value")[f"k{n}"] for n in (0, 60, 120)] == expected


def test_a_csv_type_that_first_shows_after_4_mib(feed):
    lines = [f"k{n},p,{n},{n},{'x' * 100}" for n in range(40_000)]
    feed.land("x.csv", "id,part,ts,value,note\n" + "\n".join(lines) + "\nlast,p,1,1.5,x\n")
    feed.run("csv", operation="bulk_insert")
    assert column(feed, "value")["last"] == 1.5


VAST = 2**63


@pytest.mark.parametrize("number", [VAST, -VAST - 1, 2**64 - 1, 10**37])
@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_whole_numbers_beyond_64_bits_are_exact_in_a_new_column(feed, file_format, number):
    land_values(feed, file_format, [1, number])
    feed.run(file_format)
    assert feed.open().schema.field("value").type == pa.decimal128(38, 0)
    assert column(feed, "value") == {"k0": Decimal(1), "k1": Decimal(number)}
    land_values(feed, file_format, [number - 1], "2")
    feed.run(file_format)
    assert column(feed, "value")["k0"] == Decimal(number - 1)


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_whole_numbers_beyond_64_bits_do_not_fit_whole_columns(feed, file_format):
    feed.land("0.parquet", ROWS)
    feed.run()
    land_values(feed, file_format, [5, VAST])
    assert feed.run(file_format, max_bad_share=0.5).rows_quarantined == 1
    assert column(feed, "value") == {"a": 1, "b": 2, "k0": 5}
    assert str(VAST) in str(feed.quarantined)


def test_whole_numbers_beyond_64_bits_beside_fractions_of_json_are_bad_rows(feed):
    land_values(feed, "json", [1.5, VAST, 2.5])
    with pytest.raises(SourceError, match="1 of 3 rows"):
        feed.run("json")
    assert feed.open().timeline.commits == ()
    feed.run("json", max_bad_share=0.4)
    assert column(feed, "value") == {"k0": 1.5, "k2": 2.5}
    assert str(VAST) in str(feed.quarantined)


def test_whole_numbers_beyond_64_bits_beside_fractions_of_csv_are_decimals(feed):
    land_values(feed, "csv", [1.5, VAST])
    feed.run("csv")
    assert column(feed, "value") == {"k0": Decimal("1.5"), "k1": Decimal(VAST)}


@pytest.mark.parametrize("file_format", ["csv", "json"])
@pytest.mark.parametrize("great", [1e30, 2**53, -(10**18)])
def test_great_floats_stay_floats(feed, file_format, great):
    land_values(feed, file_format, [1.5, great])
    feed.run(file_format)
    assert column(feed, "value") == {"k0": 1.5, "k1": great}


@pytest.mark.parametrize("file_format", ["csv", "json"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**63 - 1, 10**17 + 1])
def test_whole_numbers_that_a_double_changes_are_quarantined(feed, file_format, known, number):
    if known:
        HoodieTable.create(str(feed.table), OPTIONS, ROWS.schema.set(3, pa.field("value", pa.float64())))
    exponent = 15e-1 if file_format == "json" else "15e-1"  # in CSV plain digits would be a decimal
    land_values(feed, file_format, [exponent, number, 2])
    assert feed.run(file_format, max_bad_share=0.5).rows_quarantined == 1
    assert column(feed, "value") == {"k0": 1.5, "k2": 2.0}
    assert str(number) in str(feed.quarantined)


@pytest.mark.parametrize("file_format", ["csv", "json"])
@pytest.mark.parametrize("text", ["1e39", "16777217"])
def test_numbers_that_a_float_changes_are_quarantined(feed, file_format, text):
    HoodieTable.create(str(feed.table), OPTIONS, ROWS.schema.set(3, pa.field("value", pa.float32())))
    if file_format == "csv":
        feed.land("x.csv", f"id,part,ts,value\na,p,1,{text}\nb,p,1,0.5\nc,p,1,1e30\n")
    else:
        row = '{{"id": "{}", "part": "p", "ts": 1, "value": {}}}\n'.format
        feed.land("x.json", row("a", text) + row("b", 0.5) + row("c", "1e30"))
    assert feed.run(file_format, max_bad_share=0.5).rows_quarantined == 1
    assert column(feed, "value") == pytest.approx({"b": 0.5, "c": 1e30})


def test_numbers_inside_lists_and_structs_that_a_double_changes_are_quarantined(feed):
    value = {"of": [{"x": 2**53 + 1}, {"x": 0.5}]}
    feed.land("x.json", [{**ROW, "value": {"of": [{"x": 2**53}, {"x": 0.5}]}}, {**ROW, "id": "b", "value": value}])
    assert feed.run("json", max_bad_share=0.5).rows_quarantined == 1
    assert list(column(feed, "value")) == ["a"]


@pytest.mark.parametrize("file_format", ["csv", "json"])
@pytest.mark.parametrize("number", ["0.1", "12345678901234567890.12345678", "-0.00000001"])
def test_decimals_of_the_table_never_go_through_doubles(feed, file_format, number):
    kind = pa.decimal128(38, 8)
    HoodieTable.create(str(feed.table), OPTIONS, ROWS.schema.set(3, pa.field("value", kind)))
    line = f'{{"id": "a", "part": "p", "ts": 1, "value": {number}}}'
    feed.land(f"x.{file_format}", line if file_format == "json" else f"id,part,ts,value\na,p,1,{number}\n")
    feed.run(file_format)
    assert column(feed, "value")["a"] == Decimal(number)


def test_vast_numbers_inside_lists_and_structs(feed):
    value = {"ids": [1, VAST], "of": {"id": VAST, "share": 0.5}}
    feed.land("x.json", [{**ROW, "value": value}, {**ROW, "id": "b", "value": {"ids": [], "of": {"id": 2}}}])
    feed.run("json")
    assert column(feed, "value")["a"] == {"ids": [Decimal(1), Decimal(VAST)], "of": {"id": Decimal(VAST), "share": 0.5}}


def test_vast_numbers_in_text_are_text(feed):
    feed.land("x.json", [{**ROW, "value": 1e300, "note": f"[{VAST}]"}])
    feed.run("json")
    assert column(feed, "note") == {"a": f"[{VAST}]"}
    assert column(feed, "value") == {"a": 1e300}


def test_decimals_beside_doubles_of_parquet_are_refused(feed):
    feed.land("1.parquet", ROWS.set_column(3, "value", pa.array([Decimal(VAST), Decimal(1)], pa.decimal128(20, 0))))
    feed.land("2.parquet", ROWS.set_column(3, "value", pa.array([1.5, 2.5])))
    with pytest.raises(SchemaConflictError, match=r"'value'.*decimal"):
        feed.run()


def test_whole_numbers_of_parquet_that_the_double_of_the_table_changes_are_refused(feed):
    HoodieTable.create(str(feed.table), OPTIONS, ROWS.schema.set(3, pa.field("value", pa.float64())))
    feed.land("1.parquet", ROWS.set_column(3, "value", pa.array([1, 2**53 + 1])))
    with pytest.raises(SchemaConflictError, match=r"'value'.*do not fit the table.*9007199254740993"):
        feed.run()
    assert feed.open().read().num_rows == 0


def test_a_parquet_column_of_no_type_fits_the_table(feed):
    feed.land("1.parquet", ROWS)
    feed.run()
    feed.land("2.parquet", ROWS.set_column(0, "id", pa.array(["c", "d"])).set_column(3, "value", pa.nulls(2)))
    feed.run()
    assert column(feed, "value") == {"a": 1, "b": 2, "c": None, "d": None}


@pytest.mark.parametrize("codes", [("007", "7"), ("0x10", "16"), ("-01", "-1"), ("00.5", "0.5"), ("NA", "007")])
def test_codes_of_digits_stay_as_they_are_written(feed, codes):
    """As numbers two of them would be one: a key would swallow the other's row."""
    options = {"hoodie.table.recordkey.fields": "code"}
    feed.land("x.csv", "id,part,ts,code\n" + "".join(f"a,p,1,{code}\n" for code in codes))
    assert feed.run("csv", options).rows_inserted == 2
    assert sorted(feed.open().read()["code"].to_pylist()) == sorted(codes)


def test_plain_numbers_of_csv_stay_numbers(feed):
    feed.land("x.csv", "id,part,ts,value\na,p,1,0\nb,p,0,-0.5\nc,p,10,\n")
    feed.run("csv")
    assert column(feed, "value") == {"a": 0.0, "b": -0.5, "c": None}
    assert feed.open().schema.field("ts").type == pa.int64()


@pytest.mark.parametrize("known", [False, True])
def test_words_for_null_are_null_only_where_no_text_is_meant(feed, known):
    """Namibia's code is NA, and Null is a name."""
    if known:
        HoodieTable.create(str(feed.table), OPTIONS, ROWS.append_column("note", pa.array(["", ""])).schema)
    feed.land("x.csv", 'id,part,ts,value,note\nNA,NA,1,NA,NA\nnull,p,2,5,null\nx,"NA",3,null,\nNULL,p,4,"NA",NULL\n')
    assert feed.run("csv").rows_inserted == 4
    rows = {row["id"]: (row["part"], row["value"], row["note"]) for row in feed.open().read().to_pylist()}
    assert rows == {
        "NA": ("NA", None, "NA"),
        "null": ("p", 5, "null"),
        "x": ("NA", None, None),
        "NULL": ("p", None, "NULL"),
    }


ZONED, PLAIN = "2024-01-01T00:00:00+02:00", "2024-01-01T00:00:00"
IN_UTC = datetime(2023, 12, 31, 22, tzinfo=UTC)


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_times_with_a_zone_are_moments(feed, file_format):
    land_values(feed, file_format, [ZONED, "2023-12-31T22:00:00Z"])
    feed.run(file_format)
    assert column(feed, "value") == {"k0": IN_UTC, "k1": IN_UTC}


@pytest.mark.parametrize("file_format", ["csv", "json"])
@pytest.mark.parametrize("block", [40, 10_000])
def test_times_of_which_some_have_a_zone_stay_text(feed, monkeypatch, file_format, block):
    monkeypatch.setattr(text, "BLOCK", block)
    monkeypatch.setattr("hudi_services.sources.ingest.files.json_rows._START", 1)
    land_values(feed, file_format, [ZONED, PLAIN])
    feed.run(file_format)
    assert column(feed, "value") == {"k0": ZONED, "k1": PLAIN}


@pytest.mark.parametrize("file_format", ["csv", "json"])
@pytest.mark.parametrize(("zone", "good", "bad"), [("UTC", ZONED, PLAIN), (None, PLAIN, ZONED)])
def test_times_of_the_other_kind_are_quarantined(feed, file_format, zone, good, bad):
    HoodieTable.create(str(feed.table), OPTIONS, ROWS.schema.set(3, pa.field("value", pa.timestamp("us", zone))))
    land_values(feed, file_format, [good, bad])
    assert feed.run(file_format, max_bad_share=0.5).rows_quarantined == 1
    assert column(feed, "value") == {"k0": IN_UTC if zone else datetime(2024, 1, 1)}


def test_times_inside_lists_and_structs_keep_their_zone(feed):
    feed.land("x.json", [{**ROW, "value": {"at": [ZONED], "day": PLAIN, "mixed": [ZONED, PLAIN]}}])
    feed.run("json")
    assert column(feed, "value") == {"a": {"at": [IN_UTC], "day": datetime(2024, 1, 1), "mixed": [ZONED, PLAIN]}}


def test_clock_times_of_csv_are_text(feed):
    feed.land("x.csv", "id,part,ts,value\na,p,1,10:30:00\n")
    feed.run("csv")
    assert column(feed, "value") == {"a": "10:30:00"}


@pytest.mark.parametrize("given", [["1234", "01234"], ["001", "1"], ["8.5", "07"], ["00", "x"]])
def test_codes_of_one_csv_file_make_text_of_the_numbers_of_another(feed, given):
    for number, value in enumerate(given):
        feed.land(f"{number}.csv", f"id,part,ts,value\n{value},p,1,{value}\n")
    feed.run("csv")
    assert column(feed, "value") == dict(zip(given, given, strict=True))


@pytest.mark.parametrize("start", ["\ufeff", "\n\n"])
def test_a_mark_or_blank_lines_before_json(feed, start):
    feed.land("x.json", start + '{"id": "a", "part": "p", "ts": 1, "value": 1}\n')
    assert feed.run("json").rows_inserted == 1


def test_json_in_utf_16_is_named(feed):
    feed.land("x.json", '{"id": "a", "part": "p", "ts": 1}\n'.encode("utf-16"))
    with pytest.raises(SourceError, match=r"x.json cannot be read.*UTF-16"):
        feed.run("json")


def land_values(feed, file_format, values, name="1"):
    if file_format == "csv":
        lines = [f"k{n},p,{int(name)},{value}" for n, value in enumerate(values)]
        feed.land(f"{name}.csv", "\n".join(["id,part,ts,value", *lines]))
    else:
        feed.land(
            f"{name}.json", [{"id": f"k{n}", "part": "p", "ts": int(name), "value": v} for n, v in enumerate(values)]
        )


def change(feed, name, how):
    """Change a file between the look at its columns and the reading of its rows."""
    path = feed.source / name
    if how == "gone":
        path.unlink()
    elif how == "longer":
        path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
    elif how == "other":
        path.write_bytes(path.read_bytes().replace(b"a", b"z"))
    elif name.endswith("parquet"):
        pq.write_table(ROWS.append_column("more", pa.array([1, 2])), path)
    else:
        path.write_bytes(path.read_bytes().replace(b"value", b"valve"))


@pytest.mark.parametrize("how", ["gone", "longer", "other", "other columns"])
@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
def test_a_file_that_changes_while_it_is_loaded_is_named_and_nothing_is_loaded(feed, monkeypatch, file_format, how):
    feed.land("0.parquet", batch([("0", "p", 1, 1)]))
    feed.run()
    name = f"1.{file_format}"
    feed.land(name, {"csv": "id,part,ts,value\na,p,1,1\n", "json": [ROW], "parquet": ROWS}[file_format])
    prepared = HoodieTable.write

    def changed(*args, **more):
        change(feed, name, how)
        return prepared(*args, **more)

    monkeypatch.setattr(HoodieTable, "write", changed)
    with pytest.raises(SourceError, match=rf"{name} (changed while|cannot be read)"):
        feed.run(file_format, max_bad_share=1.0)
    monkeypatch.undo()
    assert set(feed.content) == {"0"}
