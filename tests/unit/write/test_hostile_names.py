"""A table's rows are the same with any column names as with harmless ones."""

from __future__ import annotations

import tempfile

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hoodie import HoodieTable
from hoodie.errors import SchemaConflictError
from hoodie.model import internal_columns
from tests.support.examples import examples
from tests.support.matrix import diagonal
from tests.support.renamed import HOSTILE, INNER, ROLES, Names, Twins, batch
from tests.support.tables import create

KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
PARTIAL = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
NAMES = st.lists(st.sampled_from(HOSTILE), min_size=len(ROLES) + 1, max_size=len(ROLES) + 1, unique=True)
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "cc", "dd"]), st.integers(0, 3), st.none() | st.integers(0, 9)), max_size=4
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["upsert", "upsert", "insert", "bulk_insert", "delete", "compact", "merge logs"]), ROWS),
    min_size=2,
    max_size=4,
)
FIRST = ("upsert", [("a", 1, 1), ("b", 1, 2), ("cc", 1, 3)])
OWN = ["__group", "__reset", "__sequence", "__delete", "__position", "__lacks", "__op"]
UPDATES = [("upsert", [("a", 2, None), ("dd", 1, 4)]), ("delete", [("b", 1, None)]), ("compact", [])]


@pytest.mark.histories
@pytest.mark.parametrize(("kind", "mode"), diagonal(KINDS, ["whole", "partial"]))
@settings(max_examples=examples(8), deadline=None)
@given(names=NAMES, steps=STEPS)
@example(names=OWN, steps=UPDATES)
@example(names=[*OWN[3:], *OWN[:3]], steps=UPDATES)
@example(names=["result", "bucket", "block", "id", "values", "counts", "element"], steps=UPDATES)
def test_rows_do_not_depend_on_names(kind, mode, names, steps):
    more = {"hoodie.table.type": kind} | (PARTIAL if mode == "partial" else {})
    left_out = {"merge logs"} if mode == "partial" else set()
    left_out |= {"compact", "merge logs"} if kind == "COPY_ON_WRITE" else set()
    with tempfile.TemporaryDirectory() as folder:
        twins = Twins(folder, dict(zip((*ROLES, INNER), names, strict=True)), **more)
        for action, rows in [FIRST, *steps]:
            if action not in left_out:
                twins.run(action, rows)
            twins.check()
        twins.check_parts()


INTERNAL = sorted(value for name, value in vars(internal_columns).items() if name[0].isupper())


@pytest.mark.parametrize("operation", ["insert", "bulk_insert", "upsert"])
@pytest.mark.parametrize("name", INTERNAL)
def test_internal_names_are_refused_wherever_columns_enter(tmp_path, name, operation):
    assert internal_columns.is_internal(name)
    rows = batch([("a", 1, 1)])
    named = rows.append_column(name, pa.array([1]))
    inside = rows.append_column("s", pa.array([{name: 1}]))
    table = HoodieTable.create(str(tmp_path / "t"), Names({role: role[0] for role in ROLES}).options())
    for _ in range(2):  # a first write, and one that would add the column
        for bad, path in ((named, name), (inside, f"s.{name}")):
            with pytest.raises(SchemaConflictError, match=f"'{path}' has a name that Avro cannot hold"):
                table.write(bad, operation)
        table.write(rows, operation)
    with pytest.raises(SchemaConflictError, match=f"'{name}' has a name that Avro cannot hold"):
        HoodieTable.create(str(tmp_path / "u"), Names({role: role[0] for role in ROLES}).options(), named.schema)
    assert not (tmp_path / "u").exists()


def test_a_delete_does_not_look_at_columns_that_are_called_like_internal_ones(tmp_path):
    table = create(tmp_path / "t")
    rows = pa.table({"id": ["a", "b"], "part": ["p", "p"], "ts": [1, 1], "value": [1, 2]})
    table.write(rows)
    table.write(rows.slice(0, 1).append_column(internal_columns.DELETE, pa.array([False])), "delete")
    assert table.read()["id"].to_pylist() == ["b"]


def test_partial_updates_fill_columns_of_debezium(tmp_path):
    """`__op` and `__ts_ms` are the user's: a null in them leaves what is stored, as in every column."""
    rows = pa.table({"id": ["a"], "part": ["p"], "ts": [1], "value": [1], "__op": ["c"], "__ts_ms": [7]})
    later = pa.table({"id": ["a"], "part": ["p"], "ts": [2], "value": [2]})
    for kind in KINDS:
        table = create(tmp_path / kind, **{"hoodie.table.type": kind}, **PARTIAL)
        table.write(rows)
        table.write(later)
        assert table.read(columns=["value", "__op", "__ts_ms"]).to_pylist() == [{"value": 2, "__op": "c", "__ts_ms": 7}]
