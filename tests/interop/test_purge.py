"""A purge of tables that Hudi wrote, with its metadata table: Hudi reads what is left, and writes on."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable, Purge
from hoodie.storage import walk_files
from tests.interop.rows import rows
from tests.interop.test_clean import batch, check_rows, hudi_options
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

INDEXED = {"hoodie.metadata.index.column.stats.enable": "true", "hoodie.metadata.record.index.enable": "true"}
MOR = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
WHERE = "id = 'person-4711'"


def named(step):
    """A batch in which a key of partition p is a person's."""
    table = batch(step, "p", "q")
    keys = ["person-4711" if key == "p0" else key for key in table["id"].to_pylist()]
    return table.set_column(0, "id", [keys])


@pytest.mark.parametrize(
    ("peer", "version", "more"),
    sample([("hudi12", "9", {**MOR, **INDEXED}), ("hudi12", "9", INDEXED), ("hudi15", "6", MOR)], 0),
)
def test_hudi_reads_what_is_left(request, tmp_path, recorded, peer, version, more):
    hudi, hudis, path = request.getfixturevalue(peer), recorded(peer), tmp_path / "t"
    options = hudi_options(version, **more)
    for step in range(3):
        hudis.write(path, named(step), {**options, "hoodie.clean.automatic": "false"})
    table = HoodieTable.open(hudis.table(path))
    expected = [row for row in rows(table.read()) if row[0] != "person-4711"]
    assert table.run(Purge(WHERE)).is_erased
    check_rows(hudi, table, expected)
    assert not [f.path for f in walk_files(table.storage, "") if b"person-4711" in table.storage.read(f.path)]
    hudi.write(
        path, batch(9, "q", "r"), {**options, "hoodie.clean.automatic": "false", "hoodie.metadata.enable": "true"}
    )
    check_rows(hudi, table, rows(table.read()))
    assert table.explain(Purge(WHERE)).plan is None
