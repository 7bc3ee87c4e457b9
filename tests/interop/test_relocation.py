"""Tables that Hudi wrote, with its metadata table, copied and moved: Hudi reads both, and writes on."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.interop.rows import rows
from tests.interop.test_clean import batch, check_rows, hudi_options
from tests.interop.test_purge import INDEXED, MOR

pytestmark = pytest.mark.interop


def test_hudi_goes_on_with_a_copy_and_a_moved_table(hudi12, tmp_path):
    options = {**hudi_options("9", **MOR, **INDEXED), "hoodie.metadata.enable": "true"}
    for step in range(2):
        hudi12.write(tmp_path / "t", batch(step, "p", "q"), options)
    expected = rows(HoodieTable.open(str(tmp_path / "t")).read())
    for action, source, target in (("copy", "t", "copied"), ("move", "t", "moved")):
        words = ["table", action, f"--target-base-path={tmp_path / source}", f"--to={tmp_path / target}", "--yes"]
        assert main(words) == 0
    for name in ("copied", "moved"):
        check_rows(hudi12, HoodieTable.open(str(tmp_path / name)), expected)
    hudi12.write(tmp_path / "copied", batch(7, "q", "r"), options)
    check_rows(
        hudi12, HoodieTable.open(str(tmp_path / "copied")), rows(HoodieTable.open(str(tmp_path / "copied")).read())
    )
    check_rows(hudi12, HoodieTable.open(str(tmp_path / "moved")), expected)
