"""Rows of UPDATE and MERGE: what their clauses set, over what is there. Keys stay as they are."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from hoodie.errors import SqlError
from hoodie.sql.update_rows import ACTION, CLAUSE, INSERTED, Changes, changed, value_name

SCHEMA = pa.schema([("k", pa.float64()), ("n", pa.int32()), ("name", pa.string())])
UPDATE = Changes("t", SCHEMA, ("k",))
MERGE = Changes("t", SCHEMA, ("k",), deletes=(1,), inserts=(2,), merges=True)


def found(given, count=1, **columns):
    """Stored rows of (1.0, 10, "a"), or with these columns, and what clauses give: (clause, column) -> values."""
    stored = {"k": [1.0] * count, "n": pa.array([10] * count, pa.int32()), "name": ["a"] * count, **columns}
    return pa.table({**stored, **{value_name(*place): values for place, values in given.items()}})


def test_columns_that_an_update_does_not_set_stay():
    assert changed(found({(0, 1): [7]}), UPDATE).to_pylist() == [{"k": 1.0, "n": 7, "name": "a"}]
    assert changed(found({(0, 1): [None]}), UPDATE).schema == SCHEMA


def test_a_key_keeps_its_own_form_of_zero():
    """They are equal, and make other keys."""
    rows = changed(found({(0, 0): [-0.0], (0, 1): [7]}, k=[0.0]), UPDATE)
    assert rows["n"].to_pylist() == [7]
    assert math.copysign(1, rows["k"][0].as_py()) == 1


def test_a_row_that_is_there_gets_no_other_key():
    with pytest.raises(SqlError, match=r"Column k is part of the keys of table t.*1.0 set to 2.0"):
        changed(found({(0, 0): [2.0]}), UPDATE)
    assert changed(found({(0, 0): [None]}, k=pa.array([None], pa.float64())), UPDATE)["k"].to_pylist() == [None]


def test_clauses_of_a_merge_each_change_their_rows():
    given = {(0, 1): [7, None, None], (2, 0): [None, None, 5.0], (2, 1): [None, None, 6]}
    rows = changed(found(given, 3, **{CLAUSE: [0, 1, 2]}), MERGE)
    assert [tuple(row.values()) for row in rows.to_pylist()] == [
        (1.0, 7, "a", False, False),
        (1.0, 10, "a", True, False),
        (5.0, 6, None, False, True),
    ]
    assert rows.schema.names[-2:] == [ACTION, INSERTED]
    assert changed(found({}, 0, **{CLAUSE: pa.array([], pa.int32())}), MERGE).schema == MERGE.result
