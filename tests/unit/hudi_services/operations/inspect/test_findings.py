"""Small files of many partitions."""

from __future__ import annotations

import pytest

from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect import findings
from hudi_services.operations.inspect.findings import has_crowded_partitions
from hudi_services.operations.inspect.table_look import look_at
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.mark.parametrize(("commits", "crowded"), [(4, True), (3, False)])
def test_a_few_small_files_in_many_partitions_are_many(commits, crowded, tmp_path, monkeypatch):
    monkeypatch.setattr(findings, "_MANY", 12)
    table = create(tmp_path / "t")
    for step in range(commits):
        rows = [(f"{part}{step}", part, 1, 1) for part in "pqr"]
        table.write(batch(rows), "bulk_insert", SMALL_BLOOM)
    look = look_at(ChosenTable(table.base_path))
    assert has_crowded_partitions(look) == crowded
    monkeypatch.setattr(findings, "_MANY", 13)
    assert not has_crowded_partitions(look)
