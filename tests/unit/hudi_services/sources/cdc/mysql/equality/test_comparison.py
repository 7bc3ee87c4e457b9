"""Rows of the two sides, each at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import SchemaConflictError
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.equality import comparison as module
from hudi_services.sources.cdc.mysql.equality.chunks import digests
from hudi_services.sources.cdc.mysql.equality.comparison import Comparison, LakeRows
from tests.support.tables import SMALL_BLOOM, batch, create

COLUMNS = (
    LoggedColumn(Code.VARCHAR, 9, "id"),
    LoggedColumn(Code.LONGLONG, 0, "value"),
    LoggedColumn(Code.DATE, 0, "new"),
)
TABLE = DeclaredTable("d", "t", COLUMNS, ("id",), {})


@dataclass
class Rows:
    """A snapshot of rows that notes by which condition it is read."""

    values: list
    table: DeclaredTable = TABLE
    conditions: list = field(default_factory=list)

    def rows_where(self, condition):
        self.conditions.append(condition)
        return pa.Table.from_pylist(self.values, TABLE.schema).to_reader()


@pytest.fixture
def lake(tmp_path):
    made = create(tmp_path / "t")
    made.write(batch([(str(number), "p", 1, number) for number in range(9)]), "upsert", SMALL_BLOOM)
    return made


def lake_rows(table, schema=TABLE.schema):
    return LakeRows(table.state(), LocalEngine(1), schema)


def test_the_lake_is_read_as_it_was_in_the_columns_of_the_server(lake, monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 100)
    rows = lake_rows(lake)
    lake.write(batch([("1", "p", 1, 99), ("20", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    read = list(rows.batches())
    assert len(read) > 1
    values = pa.Table.from_batches(read).to_pylist()
    assert sorted(values, key=lambda row: row["value"]) == [{"id": str(n), "value": n, "new": None} for n in range(9)]
    with pytest.raises(SchemaConflictError, match="'id'"):
        list(lake_rows(lake, pa.schema([("id", pa.bool_())])).batches())


def test_rows_of_some_chunks_are_compared(lake, tmp_path, monkeypatch):
    rows = Rows([{"id": str(number), "value": number % 5} for number in range(9)])
    with digests(TABLE, ("id",)) as computed:
        compared = Comparison(rows, lake_rows(lake), ("id",), computed)
        keys = pa.record_batch({"id": ["4", "5"]})
        chunks = np.unique(computed.chunks(keys))
        some = compared.rows(chunks, tmp_path / "some")
        monkeypatch.setattr(module, "_LISTED", 1)
        others = compared.rows(chunks, tmp_path / "others")
        every = compared.rows(None, tmp_path / "every")
    assert rows.conditions[0].endswith(f"IN ({chunks[0]}, {chunks[1]})")
    assert rows.conditions[1:] == ["", ""]
    assert [compared.lake.rows for compared in (some, others, every)] == [2, 2, 9]
    assert [sum(part.count for part in compared.differences()) for compared in (some, every)] == [1, 4]
