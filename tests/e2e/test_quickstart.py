"""docs/get-started/quickstart.md, step by step as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hudi_services.runtime.folders import PROJECT

pytestmark = pytest.mark.e2e

BLOCKS = re.findall(
    r"^```\w+\n(.*?)^```", (PROJECT / "docs" / "get-started" / "quickstart.md").read_text(), re.M | re.S
)


def said(text: str, folder: Path) -> str:
    """Run lines of a shell, which stops at the first that fails. Returns their output."""
    program = f'hudi-services() {{ "{sys.executable}" -m hudi_services "$@"; }}\nset -e\n'
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}"}
    command = ["bash", "-c", program + text]
    run = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    return run.stdout


def amounts(table: Path) -> dict[str, Decimal]:
    rows = HoodieTable.open(table).read(columns=["id", "amount"])
    return dict(zip(*rows.to_pydict().values(), strict=True))


def test_the_quick_start_as_it_stands(tmp_path: Path) -> None:
    setup, files, infer, entry, check, load, query, airflow, more = BLOCKS
    assert setup.startswith("make setup\n")  # done, as this test runs
    shop, variables = tmp_path / "shop", 'export SHOP="$PWD/shop" HUDI_REGISTRY="$PWD/shop/tables.yaml"\n'
    said(files, tmp_path)
    said(variables + infer, tmp_path)
    guess = (shop / "tables.yaml").read_text()
    assert 'delimiter: ";"' in guess
    assert "Cannot be read, and was left out: dt=2026-11-21/late.csv" in guess
    (shop / "tables.yaml").write_text(entry)
    assert "1 table, no mistakes" in said(variables + check, tmp_path)
    told = said(variables + load, tmp_path)
    assert "4 rows inserted" in told
    assert "SKIPPED: dt=2026-11-21/late.csv" in told
    orders = shop / "lake" / "orders"
    loaded = {"000101": "12.50", "000102": "1099.00", "000103": "7.05", "000104": "0.99"}
    assert amounts(orders) == {key: Decimal(value) for key, value in loaded.items()}
    found = {"SHOP": str(shop)}
    exec(query.replace("HoodieTable.open", "found = HoodieTable.open"), found)
    assert sorted(found["found"]["zip"].to_pylist()) == ["01067", "04109"]

    assert airflow == "hudi-services airflow\n"  # test_serve.py runs it on these files and this registry
    said(variables + more, tmp_path)
    assert "1 row inserted" in said(variables + load, tmp_path)
    assert amounts(orders) == {key: Decimal(value) for key, value in (loaded | {"000105": "5.00"}).items()}
