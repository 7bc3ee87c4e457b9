"""Changes of whole tables: their order, columns and filters, and which ranges are refused."""

from __future__ import annotations

import pytest

from hoodie.changes import ChangeQuery, open_changes
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, TimeTravelError
from tests.support.changes import operations, write
from tests.support.clock import FakeClock
from tests.support.tables import create


def test_ranges_and_their_columns(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert")
    second = write(table, [("a", "p", 2, 2), ("d", "p", 2, 2)])
    third = write(table, [("b", "p", 3, 1)], "delete")
    whole = table.read_changes()
    assert operations(whole) == [
        ("i", "a", None, 1),
        ("i", "b", None, 1),
        ("i", "c", None, 1),
        ("u", "a", 1, 2),
        ("i", "d", None, 2),
        ("d", "b", 1, None),
    ]
    assert whole["_hoodie_completion_time"].to_pylist() == [first] * 3 + [second] * 2 + [third]
    assert whole.schema.names == [
        "op",
        "_hoodie_commit_time",
        "_hoodie_completion_time",
        "_hoodie_record_key",
        "before",
        "after",
    ]
    assert operations(table.read_changes(first, second)) == [("u", "a", 1, 2), ("i", "d", None, 2)]
    assert table.read_changes(third).num_rows == 0
    assert table.read_changes(third).schema == whole.schema
    narrow = table.read_changes(first, columns=["value"])
    assert narrow["after"].to_pylist() == [{"value": 2}, {"value": 2}, None]
    assert table.stream_changes(first).read_all() == table.read_changes(first)
    assert operations(table.read_changes(first, net=True)) == [
        ("u", "a", 1, 2),
        ("i", "d", None, 2),
        ("d", "b", 1, None),
    ]


def test_one_change_for_each_row_goes_by_all_of_its_changes(table):
    """Changes that neither pass the filter nor show in the columns count, too: they decide what became of a row."""
    start = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "p", 1, 1), ("d", "p", 1, 9)], "insert")
    write(table, [("a", "p", 2, 10), ("b", "p", 2, 10)])
    write(table, [("a", "p", 3, 20)])
    write(table, [("b", "p", 4, 0)], "delete")
    write(table, [("d", "p", 2, 10)])
    net = {"net": True, "filter": "value < 5"}
    assert operations(table.read_changes(start, **net)) == [("u", "a", 1, 20), ("d", "b", 1, None)]
    assert operations(table.read_changes(**net)) == [("i", "c", None, 1)]
    for columns, image in ([], {}), (["part", "id"], {"part": "p", "id": "a"}):
        narrow = table.read_changes(start, columns=columns, **net)
        assert narrow.slice(0, 1).select(["op", "before", "after"]).to_pylist() == [
            {"op": "u", "before": image, "after": image}
        ]
        assert narrow.schema == table.read_changes(start, columns=columns).schema


def test_deletes_of_a_commit_come_first(tmp_path):
    """A consumer that applies changes by key alone keeps a row that moves to a partition with a lesser name."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "COPY_ON_WRITE"})
    index = {"hoodie.index.type": "GLOBAL_SIMPLE"}
    start = write(table, [("a", "z", 1, 1), ("b", "z", 1, 1)], "insert", **index)
    write(table, [("a", "c", 2, 2)], **index)
    assert operations(table.read_changes(start)) == [("d", "a", 1, None), ("i", "a", None, 2)]


def test_held_changes_go_to_disk_where_memory_is_small(tmp_path):
    """Inserts of a commit wait until its deletes are out."""
    table = create(tmp_path / "t", FakeClock(), engine=LocalEngine(1))
    write(table, [(f"k{n}", f"p{n % 5}", 1, 1) for n in range(50)], "insert")
    start = write(table, [(f"k{n}", f"p{n % 5}", 1, 2) for n in range(50)], "insert_overwrite_table")
    expected = operations(table.read_changes())
    stream = open_changes(table.state(), ChangeQuery(options={"hoodie.memory.merge.max.size": 1}), table.engine)
    assert operations(stream.table()) == expected
    assert [row[0] for row in expected] == ["i"] * 50 + ["d"] * 50 + ["i"] * 50
    assert operations(table.read_changes(start)) == []


@pytest.mark.parametrize(
    ("read", "error", "text"),
    [
        ({"start": "soon"}, TimeTravelError, "soon"),
        ({"columns": ["nope"]}, ConfigError, "nope"),
        ({"columns": ["_hoodie_record_key"]}, ConfigError, "_hoodie_record_key"),
        ({"filter": "_hoodie_commit_time > '1'"}, ConfigError, "_hoodie_commit_time"),
        ({"options": {"hoodie.no.such": 1}}, ConfigError, "hoodie.no.such"),
    ],
)
def test_bad_arguments(tmp_path, read, error, text):
    table = create(tmp_path / "t", FakeClock())
    write(table, [("a", "p", 1, 1)], "insert")
    with pytest.raises(error, match=text):
        table.read_changes(**read)


def test_a_table_without_commits(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    assert table.read_changes().num_rows == 0
