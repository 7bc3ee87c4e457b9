"""The route of the advice box: who sees the table sees the advice, who may start runs gets buttons."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI

from hoodie.clock import SystemClock
from hoodie_airflow.doctor import HudiDoctorOperator
from hudi_services.entry.doctor import Doctor
from hudi_services.registry.load import read_registry
from tests.support.airflow_pages import signed_in, watch
from tests.support.airflow_task import context
from tests.support.cli import fill
from tests.support.tables import create

pytestmark = pytest.mark.process


def test_a_viewer_has_no_buttons_and_others_have(server: FastAPI, registry: Path, tmp_path: Path) -> None:
    lake = tmp_path / "orders"
    table = create(lake, SystemClock())
    for _ in range(2):
        fill(table)
    registry.write_text(
        f"watch: {{store: {tmp_path}/store.db}}\n"
        f"tables: [{{name: orders, base_path: {lake}, clean: {{hoodie: {{hoodie.clean.commits.retained: 1}}}}}}]\n"
    )
    watch(read_registry(registry).registry, table)
    found = {role: signed_in(server, role).get("/hudi/api/tables/orders/advice").json() for role in ("viewer", "op")}
    texts = {role: [each["text"] for each in page["advice"]] for role, page in found.items()}
    assert texts["viewer"] == texts["op"]
    assert texts["op"][0].startswith("No reader needs ")
    assert [each["buttons"] for each in found["viewer"]["advice"]] == [None]
    assert found["op"]["advice"][0]["buttons"] == {
        "dag": "hudi_clean__orders",
        "explain": {"operation": "explain"},
        "run": {"operation": "execute"},
    }


def test_a_table_that_is_in_no_registry(server: FastAPI, registry: Path) -> None:
    assert signed_in(server, "admin").get("/hudi/api/tables/other/advice").status_code == 404


def test_the_box_has_the_last_findings_of_the_doctor_and_the_state_of_the_server(
    server: FastAPI, registry: Path, tmp_path: Path
) -> None:
    table = create(tmp_path / "orders", SystemClock())
    fill(table)
    (tmp_path / "state").write_text("no folder")
    registry.write_text(
        f"watch: {{store: {tmp_path}/store.db}}\n"
        f"servers: {{shop: {{type: mysql, connection: shop, server_id: 7, state: {tmp_path}/state/x}}}}\n"
        f"tables: [{{name: orders, base_path: {tmp_path}/orders, source: {{server: shop, table: shop.orders}}}}]\n"
    )
    watch(read_registry(registry).registry, table)
    (tmp_path / "orders/part=p/aaaa-0_0-1-2_29990101000000000.parquet").write_bytes(b"four")
    client = signed_in(server, "admin")
    kinds = [each["kind"] for each in client.get("/hudi/api/tables/orders/advice").json()["advice"]]
    assert kinds == ["server state"]
    HudiDoctorOperator(task_id="doctor", file=str(registry), doctor=Doctor()).execute(context())
    found = client.get("/hudi/api/tables/orders/advice").json()
    assert [(each["kind"], each["what"]) for each in found["advice"]] == [
        ("server state", "shop"),
        ("doctor", "orphan-file"),
    ]
    assert found["looked"][-1] == "the server"
