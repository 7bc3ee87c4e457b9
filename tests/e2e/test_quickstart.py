"""docs/get-started/quickstart.md, step by step as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hudi_services.local_airflow.api import AirflowApi
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.local_airflow.owner import find_owner
from hudi_services.local_airflow.processes import stop
from hudi_services.runtime.folders import PROJECT
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.e2e

BLOCKS = re.findall(
    r"^```(\w+)\n(.*?)^```", (PROJECT / "docs" / "get-started" / "quickstart.md").read_text(), re.M | re.S
)
TEN_MINUTES = 600  # seconds


def begin(text: str, folder: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """Lines of a shell, which stops at the first that fails, and the file of what they print."""
    program = f'hudi-services() {{ "{sys.executable}" -m hudi_services "$@"; }}\nset -e\n'
    output = folder / f"output-{time.monotonic_ns()}.txt"
    with output.open("wb") as log:
        process = subprocess.Popen(
            ["bash", "-c", program + text],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    return process, output


def said(text: str, folder: Path) -> str:
    process, output = begin(text, folder)
    assert process.wait(300) == 0, output.read_text()
    return output.read_text()


def amounts(table: Path) -> dict[str, Decimal]:
    rows = HoodieTable.open(table).read(columns=["id", "amount"])
    return dict(zip(*rows.to_pydict().values(), strict=True))


def test_the_quick_start_as_it_stands(tmp_path: Path) -> None:
    begun = time.monotonic()
    (_, setup), (_, files), (_, infer), (_, entry), (_, check), (_, load), (_, query), (_, airflow), (_, more) = BLOCKS
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

    home = AirflowHome(shop / ".airflow", shop / "tables.yaml")
    process, output = begin(variables + airflow, tmp_path)
    try:
        while "Ctrl-C stops it" not in output.read_text():
            still_time(begun, process, output)
        assert "1 table, 2 DAGs" in output.read_text()
        said(variables + more, tmp_path)
        owner = find_owner(home.folder)
        assert owner is not None
        api = AirflowApi(owner.address, "admin", home.passwords()["admin"])
        api.trigger("hudi_ingest__orders", {})
        while len(amounts(orders)) < 5 or "success" not in [run["state"] for run in api.runs("hudi_clean__orders")]:
            still_time(begun, process, output)
    finally:
        stop(home.folder, grace=6)
        process.wait(timeout=PATIENCE)
    assert amounts(orders)["000105"] == Decimal("5.00")


def still_time(begun: float, process: subprocess.Popen[bytes], output: Path) -> None:
    time.sleep(1)
    assert process.poll() is None, output.read_text()
    assert time.monotonic() - begun < TEN_MINUTES, output.read_text()
