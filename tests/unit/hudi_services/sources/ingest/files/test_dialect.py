"""CSV files as they are declared: signs, encodings, headers, numbers."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pyarrow as pa
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from hoodie.errors import SourceError
from hoodie.storage import open_storage
from hudi_services.entry.feed.model import Csv, Feed, contradictions
from hudi_services.sources.ingest.files import text
from hudi_services.sources.ingest.files.csv_rows import csv_rows, read_start, row_blocks
from hudi_services.sources.ingest.files.dialect import dialect
from hudi_services.sources.ingest.files.text import text_input

SIGNS = st.sampled_from([",", ";", "\t", "|", "^", ":", " "])
QUOTES = st.sampled_from(['"', "'", "`"])
ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
CELL = st.text(alphabet="ab,;\t|^: \"'`\\#\n\r.é", max_size=6)
ROWS = st.lists(st.tuples(st.just("x"), CELL, CELL), max_size=8)


def read_all(folder, data, signs, block=1000):
    """All rows of a file as texts, what was rejected, and the line in which each row begins."""
    (folder / "x.csv").write_bytes(data)
    rejected, rows, lines = [], [], []
    before, text.BLOCK = text.BLOCK, block
    try:
        with text_input(open_storage(str(folder)), "x.csv", signs.encoding) as source:
            patterns = dialect(signs)
            start = read_start(source, patterns)
            types = pa.schema([(name, pa.string()) for name in start.names])
            for each in row_blocks(source, start, patterns, lambda what, _: rejected.append(what)):
                parsed = csv_rows(each, start.names, patterns, lambda what, _: rejected.append(what), types)
                rows += [tuple(row.values()) for row in parsed.rows.to_pylist()]
                lines += parsed.lines(range(parsed.rows.num_rows))
    finally:
        text.BLOCK = before
    return rows, rejected, lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("csv")


@given(
    rows=ROWS,
    delimiter=SIGNS,
    quote=QUOTES,
    escaped=st.booleans(),
    encoding=st.sampled_from(ENCODINGS),
    ends=st.sampled_from(["\n", "\r\n"]),
    block=st.integers(1, 40),
)
@example([("x", "a\r", "\n")], ";", "'", True, "utf-16", "\r\n", 1)
def test_what_a_writer_of_any_dialect_wrote_is_read(folder, rows, delimiter, quote, escaped, encoding, ends, block):
    sink = io.StringIO()
    writer = csv.writer(
        sink,
        lineterminator=ends,
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_ALL,
        doublequote=not escaped,
        escapechar="\\" if escaped else None,
    )
    writer.writerows([("k", "m", "n"), *rows])
    signs = Csv(delimiter=delimiter, quote=quote, escape="\\" if escaped else None, encoding=encoding)
    read, rejected, _ = read_all(folder, sink.getvalue().encode(encoding), signs, block)
    assert rejected == []
    assert read == [tuple(cell or None for cell in row) for row in rows]


@given(body=st.text(alphabet="ab;'\\#\n\r", max_size=40), block=st.integers(1, 20), comments=st.booleans())
def test_every_letter_is_in_a_row_or_rejected_or_in_a_comment(folder, body, block, comments):
    signs = Csv(delimiter=";", quote="'", escape="\\", comment="#" if comments else None)
    read, rejected, _ = read_all(folder, f"k;m\n{body}".encode(), signs, block)
    told = "".join(rejected) + "".join(cell or "" for row in read for cell in row)
    for letter in "ab":
        if comments:
            assert told.count(letter) <= body.count(letter)
        else:
            assert told.count(letter) == body.count(letter)


@given(rows=st.lists(CELL.filter(lambda cell: "\r" not in cell), max_size=6), block=st.integers(1, 40))
def test_the_line_of_a_row_is_where_it_begins(folder, rows, block):
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [("k", "m"), *(("x", cell) for cell in rows)]
    )
    _, _, lines = read_all(folder, sink.getvalue().encode(), Csv(), block)
    expected, line = [], 2
    for cell in rows:
        expected.append(line)
        line += 1 + cell.count("\n")
    assert lines == expected


def test_comments_and_blank_lines_are_no_rows_and_count_as_lines(folder):
    data = b'# made by "us\n\nk,m\n# x, "y\na,1\n\n#,"\nb,"2\n# no comment"\n#\nc,3\n'
    rows, rejected, lines = read_all(folder, data, Csv(comment="#"))
    assert rejected == []
    assert rows == [("a", "1"), ("b", "2\n# no comment"), ("c", "3")]
    assert lines == [5, 8, 11]


def loaded(feed, data, columns="id,part,ts,value", name="x.csv", **signs):
    feed.land(name, data)
    declared = Feed.model_validate({"csv": signs})
    result = feed.run("csv", declared=declared, max_bad_share=1.0)
    assert result.rows_read == result.rows_inserted + result.rows_quarantined
    return {row["id"]: row["value"] for row in feed.open().read(columns=["id", "value"]).to_pylist()}


def test_semicolons_decimal_commas_and_thousands(feed):
    body = "id;part;ts;value\na;p;1;1.234,5\nb;p;1;-7\nc;p;1;+0,25\nd;p;1; 3,10 \ne;p;1;\nf;p;1;NA\n"
    expected = {"a": "1234.5", "b": "-7", "c": "0.25", "d": "3.1", "e": None, "f": None}
    feed.land("0.csv", body.replace("+", ""))
    declared = Feed.model_validate({"csv": {"delimiter": ";", "decimal_mark": ",", "thousands_mark": "."}})
    feed.run("csv", declared=declared)
    assert feed.open().schema.field("value").type == pa.decimal128(38, 2)
    found = {row["id"]: row["value"] for row in feed.open().read(columns=["id", "value"]).to_pylist()}
    assert found == {key: Decimal(each) if each else None for key, each in expected.items()}


def test_a_point_that_is_no_decimal_mark_is_no_number(feed):
    """1.500 may be 1500 where the mark is a comma: it is not read as 1.5."""
    feed.land("0.csv", "id;part;ts;value\na;p;1;1,5\n")
    declared = Feed.model_validate({"csv": {"delimiter": ";", "decimal_mark": ","}})
    feed.run("csv", declared=declared)
    feed.land("1.csv", "id;part;ts;value\nb;p;1;2,5\nc;p;1;1.500\n")
    assert feed.run("csv", declared=declared, max_bad_share=0.5).rows_quarantined == 1
    [(_, reason, row)] = feed.quarantined
    assert reason.startswith("line 3: column value: ")
    assert "'1.500' (its decimal mark is ,)" in reason
    assert row["value"] == "1.500"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_text_of_other_encodings(feed, encoding, name):
    body = "id,part,ts,value\ngrün,p,1,Zoë\n"
    assert loaded(
        feed, body.encode(encoding) if name == "x.csv" else zipped(body, encoding), encoding=encoding, name=name
    ) == {"grün": "Zoë"}


def zipped(body, encoding):
    import gzip

    return gzip.compress(body.encode(encoding))


def test_text_that_is_none_of_its_encoding_is_named(feed):
    feed.land("x.csv", b"id,part,ts,value\na,p,1,\x81\n")
    with pytest.raises(SourceError, match=r"x.csv cannot be read.*0x81"):
        feed.run("csv", declared=Feed(csv=Csv(encoding="cp1252")))


def test_names_that_no_line_has(feed):
    names = ["id", "part", "ts", "value"]
    assert loaded(feed, "a,p,1,x\nb,p,2,y\n", header=names) == {"a": "x", "b": "y"}
    assert (
        loaded(feed, "made by\nthem\nid,part,ts,other\nc,p,1,z\n", name="y.csv", header=names, skip_rows=3)["c"] == "z"
    )


def test_a_first_line_that_has_the_names_of_the_schema_is_a_row_where_no_line_has_them(feed):
    declared = Feed.model_validate(
        {"csv": {"header": False}, "schema": {"id": "string", "part": "string", "ts": "bigint", "value": "string"}}
    )
    feed.land("x.csv", "\ufeffa,p,1,x\n\nb,p,2,y\nc,p,3\n")
    assert feed.run("csv", declared=declared, max_bad_share=0.4).rows_inserted == 2
    assert feed.content == {"a": ("p", 1, "x"), "b": ("p", 2, "y")}
    assert [reason for _, reason, _ in feed.quarantined] == ["line 4: 3 columns instead of 4"]


def test_lines_before_the_header_are_skipped(feed):
    assert loaded(feed, 'made "by\r\n\r\nid,part,ts,value\r\na,p,1,x\r\n', skip_rows=2) == {"a": "x"}


def test_a_file_with_fewer_lines_than_are_skipped_is_empty(feed):
    feed.land("x.csv", "id\n")
    with pytest.raises(SourceError, match="empty file"):
        feed.run("csv", declared=Feed(csv=Csv(skip_rows=5)))


def test_texts_for_null_are_those_that_are_declared(feed):
    body = "id,part,ts,value,amount\na,p,1,-,-\nb,p,1,,5\nc,p,1,NA,7\n"
    assert loaded(feed, body, null_values=["-"]) == {"a": None, "b": "", "c": "NA"}
    assert feed.open().read(columns=["amount"])["amount"].to_pylist() == [None, 5, 7]


def test_texts_for_null_of_some_columns(feed):
    """The others keep the defaults, and texts that look so stay."""
    feed.land("x.csv", "id,part,ts,value,amount\na,p,1,-,-\nb,p,1,?, n/a \nc,p,1,NA,NA\nd,p,1,,7\n")
    csv = {"null_values": {"amount": ["-", "n/a"], "value": "?"}}
    kinds = {"id": "string", "part": "string", "ts": "bigint", "value": "string", "amount": "int"}
    feed.run("csv", declared=Feed.model_validate({"csv": csv, "schema": kinds}))
    assert {row["id"]: row["value"] for row in feed.open().read().to_pylist()} == {
        "a": "-",
        "b": None,
        "c": "NA",
        "d": None,
    }
    assert feed.open().read(columns=["amount"])["amount"].to_pylist() == [None, None, None, 7]
    (wrong,) = contradictions(
        Feed.model_validate({"csv": csv, "schema": {"amount": "int"}, "undeclared": "keep"}), "csv"
    )
    assert wrong[0] == ("csv", "null_values", "value")


def test_without_quotes_a_quote_is_a_sign_like_others(feed):
    body = 'id\tpart\tts\tvalue\na\tp\t1\t"x\nb\tp\t1\t12"\n'
    assert loaded(feed, body, delimiter="\t", quote="") == {"a": '"x', "b": '12"'}


def test_an_escaped_delimiter_belongs_to_its_value(feed):
    assert loaded(feed, 'id,part,ts,value\na,p,1,x\\,y\nb,p,1,\\"\n', escape="\\") == {"a": "x,y", "b": '"'}


def test_nothing_but_comments_is_an_empty_file(feed):
    feed.land("x.csv", "# a\n# b")
    with pytest.raises(SourceError, match="empty file"):
        feed.run("csv", declared=Feed(csv=Csv(comment="#")))


@pytest.mark.parametrize(
    ("kind", "number", "key", "value"),
    [
        ("double", "1,5", '`csv: {decimal_mark: ","}`', 1.5),
        ("double", "1.234,5", '`csv: {decimal_mark: ",", thousands_mark: "."}`', 1234.5),
        ("decimal(10,2)", "1,234.50", '`csv: {thousands_mark: ","}`', Decimal("1234.50")),
        ("double", "1,234", '`csv: {decimal_mark: ","}` or `csv: {thousands_mark: ","}`', 1.234),
    ],
)
def test_the_marks_that_make_numbers_are_named(feed, kind, number, key, value):
    feed.land("1.csv", f"id;part;ts;value\na;p;1;{number}\nb;p;1;x\n")
    declared = {"schema": {"id": "string", "part": "string", "ts": "bigint", "value": kind}}
    with pytest.raises(SourceError, match="2 of 2 rows") as raised:
        feed.run("csv", declared={**declared, "csv": {"delimiter": ";"}})
    assert f"To do: write {key} below `source` in the registry, if numbers are written so; or" in str(raised.value)
    assert [reason.endswith(f"; {key} reads it") for _, reason, _ in feed.quarantined] == [True, False]
    feed.land("1.csv", f"id;part;ts;value\na;p;1;{number}\n")
    marks = yaml.safe_load(key.partition("`")[2].partition("`")[0])["csv"]
    feed.run("csv", declared={**declared, "csv": {"delimiter": ";", **marks}})
    assert feed.open().read()["value"].to_pylist() == [value]
