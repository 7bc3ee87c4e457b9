"""A table whose lost properties `table recover` made again: Hudi goes on with it."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.config.properties.store import PROPERTIES
from hudi_services.cli.program import main
from tests.interop.rows import rows
from tests.interop.test_clean import batch, check_rows, create, hudi_options
from tests.support.registered import registered

pytestmark = pytest.mark.interop

KEYS = {"record_key": ["id"], "partition_by": ["part"], "ordering": ["ts"]}


def test_hudi_reads_and_continues_a_recovered_table(hudi12, tmp_path):
    table = create(tmp_path / "t", "9")
    for step in (1, 2):
        table.write(batch(step, "p", "q"), "upsert")
    before = dict(table.state().properties.raw)
    (tmp_path / "t" / PROPERTIES).unlink()
    registry = registered(tmp_path, {"name": "t", "keys": KEYS, "hoodie": {"hoodie.table.name": "trips"}})
    assert main(["table", "recover", "--table=t", f"--registry={registry}", "--yes"]) == 0
    recovered = HoodieTable.open(str(tmp_path / "t"))
    assert recovered.state().properties.raw == before
    hudi12.write(tmp_path / "t", batch(5, "q", "r"), hudi_options("9"))
    expected = sorted([*rows(batch(2, "p")), *rows(batch(5, "q", "r"))])
    check_rows(hudi12, recovered, expected)
