"""A file with undeclared columns: the error says what they most likely are, and its remedy loads the file."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError

SCHEMA = {"id": "string", "part": "string", "ts": "bigint", "größe": "bigint"}
ROWS = "id,part,ts,größe\na,p,1,7\n"


def refused(feed, text, **declared):
    feed.land("x.csv", text)
    with pytest.raises(SourceError) as raised:
        feed.run("csv", declared={"schema": SCHEMA, **declared})
    return str(raised.value)


def loaded(feed, **declared):
    feed.run("csv", declared={"schema": SCHEMA, **declared})
    (row,) = feed.open().read(columns=["id", "größe"]).to_pylist()
    return row["id"], row["größe"]


def test_a_renamed_key_is_named_with_its_rename(feed):
    said = refused(feed, ROWS.replace("id,", "ident_id,"))
    assert "the file lacks id and brings ident_id. To do: if it is renamed, write `ident_id` in place of `id`" in said
    schema = {"ident_id" if name == "id" else name: kind for name, kind in SCHEMA.items()}
    assert loaded(feed, schema=schema, rename={"ident_id": "id"}) == ("a", 7)


def test_several_renamed_columns_are_named_together(feed):
    said = refused(feed, "wer,part,wann,größe\na,p,1,7\n")
    assert "the file lacks id, ts and brings wer, wann" in said
    assert "if they are renamed, write `wer` in place of `id` and `wann` in place of `ts` in `schema`" in said
    assert "`rename: {wer: id, wann: ts}`" in said


def test_one_column_in_place_of_two(feed):
    assert "`rename: {id_of: id}` for the name in the table; if not, add `id_of: string`" in refused(
        feed, "id_of,part,größe\n"
    )
    assert "in place of `id` in `schema`" in refused(feed, "wer,part,größe\n")


@pytest.mark.parametrize("title", ["Report of all", "Report,,,", "Report,2026-01-01,,"])
def test_titles_above_the_header(feed, title):
    said = refused(feed, f"{title}\n\n{ROWS}")
    assert (
        "the names of the columns are below 1 line of the file, and `skip_rows` is 0: write `skip_rows: 1` below `csv`"
        in said
    )
    assert "deliver this one again with no line above its header; nothing was loaded" in said
    assert loaded(feed, csv={"skip_rows": 1}) == ("a", 7)


def test_a_header_that_is_skipped(feed):
    said = refused(feed, ROWS, csv={"skip_rows": 1})
    assert "below no line of the file, and `skip_rows` is 1: write `skip_rows: 0`" in said


def test_titles_where_nothing_is_declared(feed):
    feed.land("1.csv", ROWS)
    feed.run("csv")
    feed.land("2.csv", f"Report,,,\n{ROWS}")
    with pytest.raises(
        SourceError, match=r"2\.csv has titles in place of its header.* write `skip_rows: 1` below `csv`"
    ):
        feed.run("csv")


def test_a_header_without_a_name_is_no_title(feed):
    said = refused(feed, "id,part,ts,größe,\na,p,1,7,\n")
    assert "cannot be read. Found: column 5 of 5 has no name in the header" in said


def test_a_file_without_a_header(feed):
    said = refused(feed, "a,p,1,7\n")
    assert "the header of the file looks like a row (1, 7): deliver the file again with its header" in said
    assert "skips the header" not in said

    said = refused(feed, "x\na,p,1,7\n", csv={"skip_rows": 1})
    assert "write a `skip_rows` below 1 if it skips the header, or deliver" in said
    assert loaded(feed, csv={"header": False, "skip_rows": 1}) == ("a", 7)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_a_name_in_utf_8_that_is_read_in_another_encoding(feed, encoding):
    said = refused(feed, ROWS, csv={"encoding": encoding})
    assert (
        "the file is in UTF-8, as `grÃ¶ÃŸe` is `größe` then".replace("ÃŸ", "Ã\x9f" if encoding == "latin-1" else "ÃŸ")
        in said
    )
    assert f"the entry declares `encoding: {encoding}`: write `encoding: utf-8` below `csv` if all files are so" in said
    assert loaded(feed) == ("a", 7)
