"""Hudi does not see the audit nor what a clean has set aside, and goes on with what was put back."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, HoodieTable, Undelete
from hoodie.storage import walk_files
from hoodie.transaction.audit import audit_names
from hoodie.transaction.trash import asides
from tests.interop.rows import rows
from tests.interop.test_clean import FULL, HUDIS_FULL, batch, check_rows, files, hudi_cleans, hudi_options
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

GRACE = {"hoodie.clean.commits.retained": "1", "hoodie.delete.grace.hours": "24", **FULL}
MOR = {
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.compact.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.parquet.small.file.limit": "0",
}


@pytest.mark.parametrize(
    ("peer", "version", "more"),
    sample(
        [("hudi12", "9", {}), ("hudi12", "9", MOR), ("hudi12", "8", MOR), ("hudi15", "6", {}), ("hudi15", "6", MOR)],
        0,
    ),
)
def test_hudi_goes_on(request, tmp_path, recorded, peer, version, more):
    """Hudi goes on with its metadata table, which it builds again from the files."""
    hudi, hudis, path = request.getfixturevalue(peer), recorded(peer), tmp_path / "t"
    options = hudi_options(version, **more)
    for step in range(5):
        hudis.write(path, batch(step, "p", "q"), {**options, "hoodie.clean.automatic": "false"})
    table = HoodieTable.open(hudis.table(path))
    before, now = files(table), rows(table.read())
    times = [commit.time for commit in table.timeline.commits]
    deleted = table.run(CLEAN, GRACE).files_deleted
    gone = before - files(table)
    assert deleted >= len(gone) > 0
    assert asides(table.storage)
    assert audit_names(table.storage)

    check_rows(hudi, table, now)
    hudi.write(path, batch(7, "p"), {**options, "hoodie.clean.automatic": "false", "hoodie.metadata.enable": "true"})
    there = rows(table.read())
    check_rows(hudi, table, there)
    assert {info.path for info in walk_files(table.storage, ".hoodie/.deleted")}, "Hudi left it alone"

    run = table.run(Undelete())
    assert run.files == deleted
    assert before <= files(table)
    check_rows(hudi, table, there)
    assert rows(table.read(as_of=times[-1])) == now
    hudi.write(
        path, batch(8, "q", "r"), {**options, "hoodie.clean.automatic": "false", "hoodie.metadata.enable": "true"}
    )
    there = rows(table.read())
    check_rows(hudi, table, there)
    retained = {"hoodie.clean.commits.retained": "1", "hoodie.cleaner.commits.retained": "1"}
    again = hudi_cleans(hudi, table, **retained, **HUDIS_FULL)
    assert gone <= again, "Hudi's cleaner removes them again, as older slices"
    check_rows(hudi, table, there)
