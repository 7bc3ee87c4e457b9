"""CSV files: quotes, widths, headers."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie import HoodieTable
from hoodie.errors import SourceError
from hudi_services.entry.feed.model import Csv
from hudi_services.sources.ingest.files import text
from hudi_services.sources.ingest.files.csv_rows import csv_rows, read_start, row_blocks
from hudi_services.sources.ingest.files.dialect import dialect
from tests.support.tables import OPTIONS

HEADER = "id,part,ts,value\n"
PLAIN = Csv()
TEXTS = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.string())])


def loaded(feed, body, **more):
    """The rows that arrive of a file into a table whose `value` is text."""
    HoodieTable.create(str(feed.table), OPTIONS, TEXTS)
    feed.land("x.csv", HEADER + body)
    result = feed.run("csv", max_bad_share=1.0, **more)
    assert result.rows_read == result.rows_inserted + result.rows_quarantined
    return feed.content


def test_a_quote_that_is_never_closed_swallows_no_row_in_silence(feed):
    rows = "".join(f"k{n},p,{n},v\n" for n in range(1000))
    assert loaded(feed, 'a,p,1,x\nb,p,2,"y\n' + rows) == {"a": ("p", 1, "x")}
    assert len(feed.quarantined) == 1001
    told = {reason for _, reason, _ in feed.quarantined}
    assert told == {"line 3: a quote is opened and not closed up to the end of the file"}
    assert feed.quarantined[0][2] == 'b,p,2,"y'


def test_without_a_tolerated_share_it_is_an_error(feed):
    feed.land("x.csv", HEADER + 'a,p,1,"x\nb,p,2,y\n')
    with pytest.raises(SourceError, match="2 of 2 rows"):
        feed.run("csv")


@pytest.mark.parametrize("block", [7, 50, 1000])
def test_rows_after_the_end_of_a_stray_quote_are_loaded(feed, monkeypatch, block):
    monkeypatch.setattr(text, "BLOCK", block)
    body = 'a,p,1,"x\nb,p,2,"say ""hi"""\nc,p,3,"one\ntwo"\nd,p,4,"x" y\ne,p,5,"z"\n'
    assert loaded(feed, body) == {"c": ("p", 3, "one\ntwo"), "e": ("p", 5, "z")}
    assert [text for _, _, text in feed.quarantined] == ['a,p,1,"x', 'b,p,2,"say ""hi"""', 'd,p,4,"x" y']
    assert all("a quote is followed by text" in reason for _, reason, _ in feed.quarantined)


def test_quotes_inside_of_a_value_are_quotes(feed):
    assert loaded(feed, 'a,p,1,12" pipe\nb,p,2, "x\nc,p,3,""\nd,p,4,""""\n') == {
        "a": ("p", 1, '12" pipe'),
        "b": ("p", 2, ' "x'),
        "c": ("p", 3, None),
        "d": ("p", 4, '"'),
    }
    assert feed.quarantined == []


def test_a_value_of_more_than_64_mib_is_named(feed, monkeypatch):
    monkeypatch.setattr("hudi_services.sources.ingest.files.csv_rows._LONGEST_ROW", 5000)
    monkeypatch.setattr("hudi_services.sources.ingest.files.csv_rows._HEADER", 100)
    monkeypatch.setattr(text, "BLOCK", 1000)
    feed.land("x.csv", HEADER + 'a,p,1,x\nb,p,2,"y\n' + "k,p,1,v\n" * 1000)
    with pytest.raises(SourceError, match=r"x.csv cannot be read.*row that begins in line 3 .* quote not closed"):
        feed.run("csv")


# Never only blank: Arrow and the rules of CSV differ in what a line of nothing is.
CELL = st.text(alphabet='ab,"\n\r é', max_size=6)
ROWS = st.lists(st.tuples(st.just("x"), CELL, CELL), max_size=8)


@given(rows=ROWS, block=st.integers(1, 40), ends=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_whatever_a_csv_writer_wrote_is_read(rows, block, ends, last):
    sink = io.StringIO()
    csv.writer(sink, lineterminator=ends, quoting=csv.QUOTE_ALL).writerows([("k", "m", "n"), *rows])
    data = sink.getvalue().encode()
    read, rejected = read_all(data if last else data.removesuffix(ends.encode()), block)
    assert rejected == []
    assert read == [tuple(cell or None for cell in row) for row in rows]


@given(body=st.text(alphabet='ab,"\n', max_size=40), block=st.integers(1, 20))
def test_every_line_is_in_a_row_or_rejected(body, block):
    """All text of the file is in a row or rejected, with any quotes."""
    read, rejected = read_all(f"k,m\n{body}".encode(), block)
    told = "".join(rejected) + "".join(cell or "" for row in read for cell in row)
    for letter in "ab":
        assert told.count(letter) == body.count(letter)
    assert max((len(cell or "") for row in read for cell in row), default=0) <= len(body)


def read_all(data, block, csv_of=PLAIN):
    before, text.BLOCK = text.BLOCK, block
    try:
        rejected = []
        source, signs = io.BytesIO(data), dialect(csv_of)
        start = read_start(source, signs)
        types = pa.schema([(name, pa.string()) for name in start.names])

        def reject(line, _reason):
            rejected.append(line)

        blocks = row_blocks(source, start, signs, reject)
        tables = [csv_rows(block, start.names, signs, reject, types).rows for block in blocks]
        return [tuple(row.values()) for table in tables for row in table.to_pylist()], rejected
    finally:
        text.BLOCK = before


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param((HEADER + "a,p,1,1\n").encode("utf-16"), "UTF-16", id="UTF-16"),
        pytest.param((HEADER + "a,p,1,1\n").encode("utf-16-le"), "UTF-16", id="UTF-16 without a mark"),
        pytest.param("id,part,ts,größe\na,p,1,1\n".encode("latin-1"), "header that is not UTF-8", id="Latin-1"),
        pytest.param(b"id,part,,value\na,p,1,1\n", "column 3 of 4 has no name", id="no name"),
        pytest.param(b'id,part,"ts,value\na,p,1,1\n', "quote in the first line", id="stray quote"),
        pytest.param(b"", "empty file", id="empty"),
        pytest.param(b"\xef\xbb\xbf", "empty file", id="nothing but a mark"),
    ],
)
def test_a_header_that_is_none_is_named(feed, data, told):
    feed.land("x.csv", data)
    with pytest.raises(SourceError, match=f"x.csv cannot be read.*{told}"):
        feed.run("csv")
    assert not feed.table.exists()


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system(feed, ends):
    assert loaded(feed, 'a,p,1,x\nb,p,2,"y"\n'.replace("\n", ends)) == {"a": ("p", 1, "x"), "b": ("p", 2, "y")}


def test_a_header_alone_says_no_types_of_a_new_table(feed):
    feed.land("1.csv", HEADER)
    with pytest.raises(SourceError, match=r"'ts' has no value in any"):
        feed.run("csv")
    feed.land("2.csv", HEADER + "a,p,1,1\n")
    assert feed.run("csv").files_read == 2
    assert feed.open().schema.field("ts").type == pa.int64()


def test_a_zero_byte_in_a_value_is_kept(feed):
    assert loaded(feed, "a,p,1,x\0y\n") == {"a": ("p", 1, "x\0y")}


def test_a_damaged_compressed_file_is_named(feed):
    feed.land("x.csv.gz", HEADER + "".join(f"k{n},p,{n},{n * 7919}\n" for n in range(1000)))
    path = feed.source / "x.csv.gz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"x.csv.gz cannot be read"):
        feed.run("csv")


def test_endings_in_capitals_are_compressed_too(feed):
    feed.land("x.csv.gz", HEADER + "a,p,1,1\n")
    (feed.source / "x.csv.gz").rename(feed.source / "X.CSV.GZ")
    assert feed.run("csv").rows_inserted == 1
