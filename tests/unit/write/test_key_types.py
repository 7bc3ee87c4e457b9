"""Columns of keys, partitions and ordering have types in which they mean what they say."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import SchemaConflictError
from hoodie.keygen.text import keeps_text, key_text
from hoodie.schema import conform
from tests.support.tables import create

OPTIONS = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id", "hoodie.table.partition.fields": "part"}
VALUES = [
    (pa.int32(), [1, -7]),
    (pa.int64(), [1, 9]),
    (pa.float32(), [0.1, 1.0]),
    (pa.float64(), [0.1, 2.5]),
    (pa.string(), ["01", "1", "true", "1.50"]),
    (pa.bool_(), [True, False]),
    (pa.date32(), [date(2026, 1, 2)]),
    (pa.timestamp("us"), [datetime(2026, 1, 2, 3)]),
    (pa.timestamp("ms"), [datetime(2026, 1, 2, 3)]),
    (pa.decimal128(5, 2), [Decimal("1.50")]),
    (pa.decimal128(9, 2), [Decimal("1.50")]),
    (pa.decimal128(9, 3), [Decimal("1.500")]),
]


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=[str(kind) for kind, _ in VALUES])
def test_a_cast_that_keeps_the_text_keeps_it_for_every_value(kind, values):
    rows = pa.table({"c": pa.array(values, kind)})
    for other, _ in VALUES:
        if keeps_text(kind, other):
            cast = conform(rows, pa.schema([("c", other)]))
            assert key_text(cast["c"], "c").to_pylist() == key_text(rows["c"], "c").to_pylist(), other


def table_of(path, rows, **options):
    table = HoodieTable.create(str(path), OPTIONS | options)
    table.write(rows)
    return table


@pytest.mark.parametrize("operation", ["delete", "upsert"])
@pytest.mark.parametrize("field", ["id", "part"])
def test_a_type_that_changes_the_text_of_keys_is_refused(tmp_path, field, operation):
    rows = pa.table({"id": [1, 2], "part": [1, 1], "value": [1, 2]})
    table = table_of(tmp_path, rows)
    texts = rows.set_column(rows.schema.get_field_index(field), field, pa.array(["01", "02"]))
    with pytest.raises(SchemaConflictError, match=f"Column '{field}'.*") as refused:
        table.write(texts, operation)
    assert "int64" in str(refused.value)
    assert "string" in str(refused.value)
    numbers = rows.set_column(rows.schema.get_field_index(field), field, pa.array([1.0, 1.0]))
    with pytest.raises(SchemaConflictError, match=f"Column '{field}'.*cannot change its type.*double, where.*int64"):
        table.write(numbers, operation)
    assert table.read().num_rows == 2


def test_deletes_take_types_of_the_same_text(tmp_path):
    rows = pa.table({"id": ["1", "2", "3"], "part": [7, 7, 7], "value": [1, 2, 3]})
    table = table_of(tmp_path, rows)
    table.write(pa.table({"id": [1], "part": pa.array([7], pa.int32())}), "delete")
    encoded = pa.table({"id": pa.array(["2"]).dictionary_encode(), "part": pa.array([7], pa.int16())})
    table.write(encoded, "delete")
    assert table.read()["id"].to_pylist() == ["3"]
    table.write(table.read(columns=[*table.read().schema.names, "_hoodie_record_key"]), "delete")
    assert table.read().num_rows == 0


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())]), pa.map_(pa.string(), pa.int64())], ids=str
)
def test_ordering_columns_have_values_that_can_be_ordered(tmp_path, kind):
    rows = pa.table({"id": ["a"], "part": ["p"], "ts": pa.nulls(1, kind), "value": [1]})
    with pytest.raises(SchemaConflictError, match=r"Ordering column 'ts'.*cannot order rows.*order by a column of"):
        HoodieTable.create(str(tmp_path / "new"), {**OPTIONS, "hoodie.table.ordering.fields": "ts"}, rows.schema)
    assert not (tmp_path / "new").exists()
    table = create(tmp_path / "t")
    for operation in ("insert", "upsert", "bulk_insert"):
        with pytest.raises(SchemaConflictError, match="Ordering column 'ts'"):
            table.write(rows, operation)
    assert not list(table.timeline)


def test_bytes_order_rows_where_hudi_can_read_them(tmp_path):
    rows = pa.table({"id": ["a", "a"], "part": ["p", "p"], "ts": [b"\x7f", b"\x80"], "value": [1, 2]})
    for name, options, refused in (
        ("cow", {}, False),
        ("mor", {"hoodie.table.type": "MERGE_ON_READ"}, True),
        ("mor6", {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": "6"}, False),
    ):
        table = create(tmp_path / name, **options)
        if refused:
            with pytest.raises(SchemaConflictError, match=r"Ordering column 'ts'.*binary, in logs"):
                table.write(rows)
        else:
            table.write(rows)
            assert table.read()["value"].to_pylist() == [1]


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.struct([("x", pa.string())]), pa.binary()], ids=str)
def test_marks_of_deletions_have_a_text(tmp_path, kind):
    table = create(tmp_path / "t", **{"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"})
    rows = pa.table({"id": ["a"], "part": ["p"], "ts": [1], "op": pa.nulls(1, kind)})
    with pytest.raises(SchemaConflictError, match=r"Column 'op', which marks deletions.*has a type without a text"):
        table.write(rows)
    assert not list(table.timeline)
