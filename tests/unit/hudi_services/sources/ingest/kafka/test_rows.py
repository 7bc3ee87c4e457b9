"""Changes as rows of an upsert, and those that no row can be made of."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError
from hudi_services.sources.ingest.changes.rows import DELETED
from hudi_services.sources.ingest.kafka.rows import applied, image_columns

_ROW = pa.struct([("id", pa.int32()), ("day", pa.string()), ("name", pa.string())])
_SCHEMA = pa.schema([("op", pa.string()), ("number", pa.int64()), ("before", _ROW), ("after", _ROW)])


def row(number, name="x", day="d1"):
    return {"id": number, "day": day, "name": name}


@pytest.fixture
def plan(tmp_path):
    def plan(changes, **options):
        created = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id", **options}
        table = HoodieTable.create(str(tmp_path / "t"), created)
        return table.plan_write(image_columns(changes), "upsert", {}, deletions=DELETED)

    return plan


def changes(*found):
    columns = [pa.array(values, field.type) for values, field in zip(zip(*found, strict=True), _SCHEMA, strict=True)]
    return pa.table(columns, schema=_SCHEMA)


def rows(found):
    return [
        tuple(each.values()) for each in found.rows.sort_by([("id", "ascending"), ("day", "ascending")]).to_pylist()
    ]


def test_the_last_change_of_each_key_also_among_those_of_one_message(plan):
    given = changes(
        ("i", 0, None, row(1)),
        ("u", 1, row(1), row(1, "y")),
        ("i", 2, None, row(2)),
        ("d", 2, row(2), None),
        ("u", 3, row(3), row(4)),
        ("d", 4, row(5), None),
    )
    found = applied(given, plan(given))
    assert rows(found) == [
        (1, "d1", "y", False),
        (2, "d1", "x", True),
        (3, "d1", "x", True),
        (4, "d1", "x", False),
        (5, "d1", "x", True),
    ]
    assert found.rejected == {}
    assert sorted(found.places.to_pylist()) == [1, 3, 4, 4, 5]


def test_a_row_that_moves_is_deleted_where_it_was(plan):
    given = changes(("u", 0, row(1, day="d1"), row(1, day="d2")))
    found = applied(given, plan(given, **{"hoodie.table.partition.fields": "day"}))
    assert rows(found) == [(1, "d1", "x", True), (1, "d2", "x", False)]


def test_changes_that_are_no_rows_are_rejected_one_by_one(plan):
    lone = {"id": 7, "day": None, "name": None}
    given = changes(
        ("i", 0, None, row(None)),
        ("x", 1, None, row(1)),
        ("d", 2, None, None),
        ("i", 3, None, None),
        ("u", 4, None, row(4)),
        ("d", 5, lone, None),
        ("i", 6, None, row(6)),
    )
    found = applied(given, plan(given, **{"hoodie.table.partition.fields": "day"}))
    assert rows(found) == [(6, "d1", "x", False)]
    assert {place: why.split(",")[0] for place, why in found.rejected.items()} == {
        0: "column id is null or empty",
        1: "its operation is not known",
        2: "a delete without the row that it deletes",
        3: "no row after the change",
        4: "an update without the row before",
        5: "a delete with nothing but its key",
    }


def test_an_ordering_column_decides_between_rows_and_not_between_changes(plan):
    given = changes(("i", 0, None, row(1, "b")), ("i", 1, None, row(1, "a")), ("d", 2, row(2), None))
    ordered = plan(given, **{"hoodie.table.ordering.fields": "name"})
    found = applied(given, ordered, are_rows=True)
    assert (found.rows["name"].to_pylist(), found.places.to_pylist()) == (["b", "a", "x"], [0, 1, 2])
    with pytest.raises(ConfigError, match=r"by its ordering columns.*ordering by name"):
        applied(given, ordered)


def test_without_partitions_the_key_is_enough(plan):
    given = changes(("d", 0, {"id": 7, "day": None, "name": None}, None), ("u", 1, None, row(4)))
    found = applied(given, plan(given))
    assert (rows(found)[1][:1], found.rejected) == ((7,), {})


def test_changes_none_of_which_is_a_row(plan):
    given = changes(("i", 0, None, row(None)))
    found = applied(given, plan(given))
    assert (found.rows.num_rows, list(found.rejected)) == (0, [0])
