"""Types of undeclared CSV columns: careful, and the same for any cut of the files."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_services.entry.feed.model import Csv
from hudi_services.sources.ingest.files import text
from hudi_services.sources.ingest.files.numbers import exact_type, readable, roomy

ROOM = pa.decimal128(38, 2)


def value_type(feed):
    return feed.open().schema.field("value").type


def values(feed):
    return {row["id"]: row["value"] for row in feed.open().read(columns=["id", "value"]).to_pylist()}


def land(feed, name, *given):
    lines = [f"{name}{n},p,1,{value}" for n, value in enumerate(given)]
    feed.land(f"{name}.csv", "\n".join(["id,part,ts,value", *lines]))


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (["10.50", "3.99"], ROOM),
        (["10.5", "3"], ROOM),
        (["0.5", "0"], ROOM),
        ([".5", "-0.25"], ROOM),
        (["0.125", "1"], pa.decimal128(38, 3)),
        (["1", "2"], pa.int64()),
        (["0"], pa.int64()),
        (["1e5", "2.5"], pa.float64()),
        (["1e5", "2e7"], pa.string()),
        (["1.0e5", "2e7"], pa.float64()),
        (["1e+05", "2"], pa.float64()),
        (["1E5", "2"], pa.string()),
        (["12", "3", "1e5", "07"], pa.string()),
        (["nan", "2.5"], pa.float64()),
        (["007"], pa.string()),
        (["007", "1.5"], pa.string()),
        (["+491701234567", "1"], pa.string()),
        (["00.5"], pa.string()),
        (["-01"], pa.string()),
        (["0." + "1" * 40], pa.float64()),
        (["1" * 38, "2"], pa.decimal128(38, 0)),
        (["1" * 30 + ".5", "2.25"], ROOM),
        (["1" * 37 + ".5"], pa.decimal128(38, 1)),
    ],
)
def test_the_type_of_a_column(feed, given, kind):
    land(feed, "x", *given)
    feed.run("csv")
    assert value_type(feed) == kind
    if pa.types.is_decimal(kind):
        assert values(feed) == {f"x{n}": Decimal(each) for n, each in enumerate(given)}
    if pa.types.is_string(kind):
        assert values(feed) == {f"x{n}": each for n, each in enumerate(given)}


@pytest.mark.parametrize("block", [20, 10_000])
@pytest.mark.parametrize("apart", [False, True])
def test_whole_numbers_and_decimals_meet_wherever_they_stand(feed, monkeypatch, block, apart):
    monkeypatch.setattr(text, "BLOCK", block)
    given = ["1", "9223372036854775807", "10.5", "3.255", "2"]
    if apart:
        for n, each in enumerate(given):
            land(feed, f"f{n}", each)
    else:
        land(feed, "x", *given)
    feed.run("csv")
    assert value_type(feed) == pa.decimal128(38, 3)
    assert sorted(values(feed).values()) == sorted(map(Decimal, given))


def test_whole_numbers_come_into_the_decimals_of_the_table(feed):
    land(feed, "a", "10.50")
    feed.run("csv")
    land(feed, "b", "7", "8.5", "1234567890123456789012345678901234.25")
    feed.run("csv")
    assert value_type(feed) == ROOM
    assert values(feed)["b0"] == Decimal(7)
    assert values(feed)["b2"] == Decimal("1234567890123456789012345678901234.25")


def test_fractions_do_not_fit_the_whole_numbers_of_the_table_and_are_told(feed):
    land(feed, "a", "10")
    feed.run("csv")
    land(feed, "b", "10.5", "11")
    assert feed.run("csv", max_bad_share=0.5).rows_quarantined == 1
    [(_, reason, row)] = feed.quarantined
    assert reason.startswith("line 2: column value: ")
    assert "'10.5'" in reason
    assert row["value"] == "10.5"
    assert value_type(feed) == pa.int64()


def test_exponents_in_another_file_make_doubles_of_short_decimals(feed):
    land(feed, "a", "10.5")
    land(feed, "b", "1e5")
    feed.run("csv")
    assert values(feed) == {"a0": 10.5, "b0": 1e5}


@pytest.mark.parametrize(("name", "other"), [("a", "100000"), ("z", "100000"), ("a", "x"), ("z", "2E5")])
def test_codes_that_look_like_exponents_stay_text_beside_codes_of_another_file(feed, name, other):
    land(feed, name, other)
    land(feed, "b", "1E5")
    feed.run("csv")
    assert values(feed) == {f"{name}0": other, "b0": "1E5"}


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**15), max_value=10**15)


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.sampled_from([".", ","]), st.booleans())
def test_every_number_that_is_written_in_digits_is_held_exactly(numbers, mark, grouped):
    other = "," if mark == "." else "."
    signs = Csv(delimiter=";", decimal_mark=mark, thousands_mark=other if grouped else None)
    texts = [f"{number:,f}" if grouped else f"{number:f}" for number in numbers]
    if mark == ",":
        texts = [each.translate(str.maketrans(",.", ".,")) for each in texts]
    read = readable(pa.chunked_array([texts]), pa.float64(), signs)
    kind = exact_type(read)
    assert kind is not None
    assert read.cast(roomy(kind)).to_pylist() == numbers
