"""Filters of rows and of changes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.row_filter import EVERY_ROW, RowFilter

SCHEMA = pa.schema([("id", pa.int32()), ("v", pa.string())])
IMAGE = pa.struct(list(SCHEMA))


def test_updates_that_let_a_row_in_or_out_become_inserts_and_deletes():
    wanted = RowFilter("id > 1 or v is null")
    yes, no = {"id": 2, "v": "a"}, {"id": 1, "v": "a"}
    pairs = [("i", None, yes), ("i", None, no), ("u", yes, yes), ("u", no, yes), ("u", yes, no), ("u", no, no)]
    pairs += [("d", yes, None), ("d", no, None), ("u", no, {"id": 1, "v": None})]
    changes = pa.table(
        {
            "op": [op for op, _, _ in pairs],
            "number": list(range(len(pairs))),
            "before": pa.array([before for _, before, _ in pairs], IMAGE),
            "after": pa.array([after for _, _, after in pairs], IMAGE),
        }
    )
    result = wanted.changes(changes)
    assert [tuple(row.values()) for row in result.to_pylist()] == [
        ("i", 0, None, yes),
        ("u", 2, yes, yes),
        ("i", 3, None, yes),
        ("d", 4, yes, None),
        ("d", 6, yes, None),
        ("i", 8, None, {"id": 1, "v": None}),
    ]
    assert result.schema == changes.schema
    assert EVERY_ROW.changes(changes) is changes
    assert wanted.changes(changes.slice(1, 1)).num_rows == 0


def test_rows_whose_condition_is_unknown_are_left_out():
    rows = pa.record_batch([pa.array([1, 2, None], pa.int32()), pa.array(["a", None, "c"])], schema=SCHEMA)
    assert RowFilter("not (id in (1) and v = 'a')").batch(rows)["id"].to_pylist() == [2, None]
    assert RowFilter("id = 5").table(pa.Table.from_batches([rows])).num_rows == 0
    assert EVERY_ROW.batch(rows) is rows


@pytest.mark.parametrize("text", ["no_such = 1", "id = 'x'", "id = (select 1)", "now() > v", "id +", "id = v and"])
def test_a_condition_that_cannot_be_asked_is_refused(text):
    with pytest.raises(ConfigError, match=r"The rows of db\.t cannot be filtered by"):
        RowFilter(text).check(SCHEMA, "db.t")
