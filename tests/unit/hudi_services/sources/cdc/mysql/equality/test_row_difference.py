"""Rows that differ, by key."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.sources.cdc.mysql.equality.row_difference import row_difference

SCHEMA = pa.schema([("k", pa.string()), ("j", pa.string()), ("v", pa.float64()), ("w", pa.binary())])


def table(*rows):
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def keys(rows):
    return [(row["k"], row["j"]) for row in rows.to_pylist()]


def test_each_kind_of_difference():
    server = table(
        ("a", "1", 1.0, b"x"),
        ("a1", "", 2.0, None),
        ("b", "", 0.0, b""),
        ("c", "", 1.0, None),
        ("d", "", float("nan"), b"x"),
        ("A", "1", 1.0, b"x"),
        ("two", "", 1.0, b"x"),
    )
    lake = table(
        ("two", "", 1.0, b"x"),
        ("d", "", float("nan"), b"x"),
        ("c", "", 1.0, b""),
        ("b", "", -0.0, None),
        ("a", "1", 1.0, b"x"),
        ("a", "", 1.0, b"x"),
        ("two", "", 2.0, b"y"),
        ("too", "", 2.0, b"y"),
        ("too", "", 2.0, b"y"),
    )
    found = row_difference(server, lake, ("k", "j"))
    assert keys(found.missing) == [("a1", ""), ("A", "1")]
    assert keys(found.surplus) == [("a", "")]
    assert keys(found.server) == keys(found.lake) == [("b", ""), ("c", "")]
    assert {name: differs.tolist() for name, differs in found.columns.items()} == {
        "v": [True, False],
        "w": [True, True],
    }
    assert keys(found.copies) == [("two", ""), ("two", ""), ("too", ""), ("too", "")]
    assert keys(found.originals) == [("two", "")]
    assert found.count == 9
    assert found.changes()["op"].to_pylist() == ["d"] * 5 + ["i"] * 2 + ["u"] * 2
    assert found.restored()["after"].to_pylist() == found.originals.to_pylist()


def test_sides_without_rows():
    some = table(("a", "1", 1.0, b"x"))
    for server, lake, count in ((some, SCHEMA.empty_table(), 1), (SCHEMA.empty_table(), some, 1), (some, some, 0)):
        found = row_difference(server, lake, ("k",))
        assert found.count == count == found.changes().num_rows
    assert row_difference(SCHEMA.empty_table(), SCHEMA.empty_table(), ("k",)).count == 0
