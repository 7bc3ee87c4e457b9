"""Values of text files become those of a known table; those that do not fit are quarantined, each with its reason."""

from __future__ import annotations

import decimal
from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.support.tables import OPTIONS, batch

SCHEMA = batch([]).schema
NESTED = pa.schema(
    [*list(SCHEMA)[:3], ("of", pa.struct([("day", pa.date32()), ("prices", pa.list_(pa.decimal128(5, 2)))]))]
)
WIDE = pa.schema(
    [
        ("id", pa.string()),
        ("part", pa.string()),
        ("ts", pa.int64()),
        ("code", pa.string()),
        ("small", pa.int32()),
        ("ratio", pa.float64()),
        ("price", pa.decimal128(7, 2)),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("flag", pa.bool_()),
    ]
)


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_a_known_table_keeps_its_types_where_text_files_guess(feed, file_format):
    HoodieTable.create(str(feed.table), OPTIONS, WIDE)
    feed.land(
        f"x.{file_format}",
        "id,part,ts,code,small,ratio,price,day,at,flag\n1,p,1,007,5,2,12.50,2024-02-29,2024-02-29T01:02:03Z,true\n"
        if file_format == "csv"
        else '{"id": "1", "part": "p", "ts": 1, "code": "007", "small": 5, "ratio": 2, "price": 12.50, '
        '"day": "2024-02-29", "at": "2024-02-29T01:02:03Z", "flag": true}',
    )
    feed.run(file_format)
    assert feed.quarantined == []
    assert feed.open().schema.equals(WIDE)
    assert feed.open().read().to_pylist() == [
        {
            "id": "1",
            "part": "p",
            "ts": 1,
            "code": "007",
            "small": 5,
            "ratio": 2.0,
            "price": decimal.Decimal("12.50"),
            "day": date(2024, 2, 29),
            "at": datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC),
            "flag": True,
        }
    ]


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("ts", "soon", "ts"),
        ("small", "2147483648", "small"),
        ("small", "1.5", "small"),
        ("price", "1.234", "price"),
        ("price", "123456.00", "price"),
        ("day", "2023-02-29", "day"),
        ("at", "yesterday", "at"),
        ("flag", "perhaps", "flag"),
        ("id", "", "column id is null or empty"),
        ("ts", "", "column ts is null or empty"),
    ],
)
@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_a_value_that_does_not_fit_is_quarantined_with_the_reason(feed, file_format, column, value, reason):
    HoodieTable.create(str(feed.table), OPTIONS, WIDE)
    good = {
        "id": "g",
        "part": "p",
        "ts": "1",
        "small": "1",
        "price": "1.00",
        "day": "2024-01-01",
        "at": "2024-01-01T00:00:00Z",
        "flag": "true",
    }
    bad = {**good, "id": "b", column: value}
    if file_format == "csv":
        feed.land("x.csv", "\n".join(",".join(row.values()) for row in ({name: name for name in good}, good, bad)))
    else:
        feed.land(
            "x.json", [{"id": "g", "part": "p", "ts": 1}, {"id": "b", "part": "p", "ts": 1, column: number(value)}]
        )
    result = feed.run(file_format, max_bad_share=0.5)
    assert (result.rows_read, result.rows_quarantined, result.rows_inserted) == (2, 1, 1)
    assert feed.open().read(columns=["id"])["id"].to_pylist() == ["g"]
    [(path, told, row)] = feed.quarantined
    assert path == f"x.{file_format}"
    assert reason in told or value in told
    assert value in str(row) or not value


def number(text):
    """As a JSON producer would write it."""
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text or None


def test_values_inside_lists_and_structs_of_json_are_checked_too(feed):
    HoodieTable.create(str(feed.table), OPTIONS, NESTED)
    row = {"id": "a", "part": "p", "ts": 1, "of": {"day": "2024-02-29", "prices": [1.5, 999.99]}}
    feed.land("x.json", [row, {**row, "of": {"day": "2023-02-29"}}, {**row, "of": {"prices": [12345.00]}}])
    assert feed.run("json", max_bad_share=0.7).rows_quarantined == 2
    [read] = feed.open().read(columns=["of"])["of"].to_pylist()
    assert read == {"day": date(2024, 2, 29), "prices": [decimal.Decimal("1.50"), decimal.Decimal("999.99")]}
    assert {reason.partition(": ")[0] for _, reason, _ in feed.quarantined} <= {"line 1", "line 2", "line 3"}
    assert all(": column of: " in reason for _, reason, _ in feed.quarantined)


def test_bad_values_do_not_take_their_neighbours_with_them(feed):
    HoodieTable.create(str(feed.table), OPTIONS, SCHEMA)
    lines = [f"k{n},p,{'x' if n % 7 == 0 else n},{'y' if n % 11 == 0 else n}" for n in range(100)]
    feed.land("x.csv", "id,part,ts,value\n" + "\n".join(lines))
    result = feed.run("csv", max_bad_share=1.0)
    bad = {f"k{n}" for n in range(100) if n % 7 == 0 or n % 11 == 0}
    assert result.rows_quarantined == len(bad)
    assert {row["id"] for _, _, row in feed.quarantined} == bad
    assert feed.content == {f"k{n}": ("p", n, n) for n in range(100) if f"k{n}" not in bad}
