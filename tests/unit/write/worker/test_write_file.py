"""Files of one task: how much memory a new one takes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.write.worker import stages

ROWS = 400_000


def test_rows_of_a_new_file_are_copied_once(tmp_path, monkeypatch):
    """A file of the default size has many short rows. Further copies of them would be most of the memory of a write."""
    write_file, ratios = stages.write_file, []

    def measured(context, task, number, tables, collisions):
        held = list(tables)
        pool, usual = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
        pa.set_memory_pool(pool)
        try:
            return write_file(context, task, number, held, collisions)
        finally:
            pa.set_memory_pool(usual)
            ratios.append(pool.max_memory() / sum(table.nbytes for table in held))

    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", pa.default_memory_pool().backend_name)
    monkeypatch.setattr(stages, "write_file", measured)
    columns = {f"c{number}": np.arange(ROWS) for number in range(8)}
    rows = pa.table({"id": np.arange(ROWS)[::-1].copy(), **columns})
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), options, engine=LocalEngine(1))
    table.write(rows, "insert", {"hoodie.copyonwrite.record.size.estimate": "20"})
    [ratio] = ratios
    assert ratio < 2.8
    assert table.read()["id"].equals(rows["id"])
