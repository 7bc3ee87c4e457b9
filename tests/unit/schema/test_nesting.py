"""Values that are nested so deep that no reader of Parquet opens the file."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import SchemaConflictError
from hoodie.schema.changes import AddColumn
from hoodie.schema.nesting import levels
from tests.support.tables import batch, create

MAKERS = {
    "struct": lambda kind: pa.struct([("a", kind)]),
    "list": pa.list_,
    "map": lambda kind: pa.map_(pa.string(), kind),
}


def nested(maker, depth):
    kind = pa.string()
    for _ in range(depth):
        kind = MAKERS[maker](kind)
    return kind


def rows_with(kind):
    return batch([("a", "p", 1, 1)]).append_column("deep", pa.nulls(1, kind))


@pytest.mark.parametrize(("maker", "most"), [("struct", 98), ("list", 49), ("map", 49)])
def test_what_is_written_can_be_read(tmp_path, maker, most):
    table = create(tmp_path)
    table.write(rows_with(nested(maker, most)))
    assert table.read()["deep"].null_count == 1
    with pytest.raises(SchemaConflictError, match=r"Column 'deep' is nested too deep"):
        create(tmp_path / "deeper").write(rows_with(nested(maker, most + 1)))
    with pytest.raises(SchemaConflictError, match=r"Column 'deep' is nested too deep"):
        table.write(rows_with(nested(maker, most + 1)))
    table.write(batch([("b", "p", 1, 1)]).append_column("deep", pa.nulls(1)))
    assert table.read().num_rows == 2


def test_a_part_that_alter_adds_counts_with_what_is_around_it(tmp_path):
    table = create(tmp_path)
    table.write(rows_with(nested("struct", 60)))
    with pytest.raises(SchemaConflictError, match=r"Column 'deep' is nested too deep"):
        table.alter([AddColumn("deep." + "a." * 58 + "more", nested("list", 20))])


def test_types_deeper_than_the_stack_of_python_are_counted():
    assert levels(nested("list", 3000)) > 99
