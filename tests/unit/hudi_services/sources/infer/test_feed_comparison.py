"""Files of other feeds in a sample."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.infer.feed_comparison import (
    blanks_around,
    check_one_feed,
    lacking,
    lacks_text,
    others_text,
    strangers,
)


def test_a_feed_gains_and_loses_columns():
    feed = {"a": ["id", "v"], "b": ["ID", "v", "w"], "c": ["w", "x"], "d": []}
    assert strangers(feed) == {}
    check_one_feed("*.csv", feed)
    assert strangers({}) == {}


def test_files_with_other_columns_than_most():
    feeds = {"a": ["city", "zip"], "b": ["id", "v", "w", "x"], "c": ["id", "v", "w", "x"], "d": ["city", "street"]}
    assert strangers(feeds) == {"b": feeds["b"], "c": feeds["c"]}, "of groups of one size the first stays"
    assert others_text(strangers(feeds)) == "b has id, v, w, …; c has id, v, w, …"
    with pytest.raises(SourceError, match="2 of 4 that were looked at have other columns") as raised:
        check_one_feed("*.csv", feeds)
    assert raised.value.found == "a has city, zip; b has id, v, w, …; c has id, v, w, …"
    assert others_text({str(n): ["x"] for n in range(5)}) == "0 has x; 1 has x; 2 has x … and 2 more"


def test_names_with_blanks_around_them_in_some_files():
    columns = {"a.csv": [" id ", "v"], "b.csv": ["id", "v"], "c.csv": ["id", "v"]}
    assert blanks_around(columns) == {
        "a.csv": "the names ' id ' differ by blanks from 'id' of other files; deliver one form"
    }
    assert list(blanks_around({"a.csv": [" id "], "b.csv": ["id"]})) == ["a.csv"], "the bare name is the usual one"
    assert list(blanks_around({"a.csv": [" id "], "b.csv": [" id "], "c.csv": ["id"]})) == ["c.csv"]
    assert blanks_around({"a.csv": [" id "], "b.csv": [" id "]}) == {}, "a rename serves them"
    assert blanks_around({"a.csv": ["id", "id "], "b.csv": ["id", "id "]}) == {}, "columns of one file"


def test_columns_that_files_lack():
    columns = {"1.csv": ["id", "Currency"], "2.csv": ["id"], "3.csv": ["ID", "currency", "note"]}
    lacked = lacking(columns)
    assert lacked == {"Currency": ["2.csv"], "note": ["1.csv", "2.csv"]}
    assert lacks_text(lacked) == "2.csv has no Currency; 1.csv, 2.csv has no note"
    assert lacking({"a.csv": ["id"], "b.csv": ["id"]}) == {}
    many = lacks_text({f"c{n}": [f"{n}.csv" for n in range(4)] for n in range(5)})
    assert many.startswith("0.csv, 1.csv, 2.csv, … has no c0; ")
    assert many.endswith(" … and 2 more")
