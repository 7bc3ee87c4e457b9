"""Forms whose fields contradict each other start no run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from tests.support.airflow_pages import signed_in

pytestmark = pytest.mark.process

TABLE = """
tables:
  - name: orders
    base_path: /lake/orders
    keys: {record_key: id}
    source: {path: /land/orders, format: csv, date_pattern: dt=%Y-%m-%d}
"""
TURNED = {"from": "2026-03-05", "to": "2026-03-01"}
RUNS, BACKFILLS = "/api/v2/dags/hudi_ingest__orders/dagRuns", "/api/v2/backfills"


@pytest.fixture(autouse=True)
def tables(registry: Path) -> None:
    registry.write_text(TABLE)


def backfill(conf: dict[str, Any]) -> dict[str, Any]:
    days = {"from_date": "2026-03-01T00:00:00Z", "to_date": "2026-03-05T00:00:00Z"}
    return {"dag_id": "hudi_ingest__orders", **days, "dag_run_conf": conf}


@pytest.mark.parametrize(
    ("address", "body", "problem"),
    [
        (RUNS, {"logical_date": None, "conf": TURNED}, "no day lies between 2026-03-05 and 2026-03-01"),
        (RUNS, {"logical_date": None, "conf": {**TURNED, "to": TURNED["from"]}}, "no day lies between"),
        (BACKFILLS, backfill(TURNED), "no day lies between"),
        (RUNS, {"conf": {"reload": True, "reload_since": "20260301000000"}}, "reload contradicts reload_since"),
        (f"{BACKFILLS}/dry_run", backfill({"catch_up_late": "yes", "reload": True}), "contradicts reload"),
    ],
)
def test_fields_that_contradict_each_other(server: FastAPI, address: str, body: dict[str, Any], problem: str) -> None:
    answer = signed_in(server, "admin").post(address, json=body)
    assert answer.status_code == 400
    assert problem in answer.json()["detail"]


@pytest.mark.parametrize(
    ("address", "content"),
    [
        (RUNS, b'{"logical_date": null, "conf": {"from": "2026-03-01", "to": "2026-03-05"}}'),
        (RUNS, b'{"logical_date": null, "conf": {"from": 5}}'),
        (RUNS, b'{"logical_date": null}'),
        (RUNS, b"[]"),
        (RUNS, b"no json"),
        (RUNS, b'{"conf": ' + b"[" * 100_000),
        (RUNS.replace("ingest", "archive"), b'{"logical_date": null, "conf": {"commits": 1e999}}'),
        (RUNS.replace("ingest__orders", "ingest__others"), b'{"conf": {"from": "2026-03-05", "to": "2026-03-01"}}'),
    ],
)
def test_all_else_goes_on_to_airflow(server: FastAPI, address: str, content: bytes) -> None:
    """It has no DAG of this name here, or says itself what is wrong."""
    answer = signed_in(server, "admin").post(address, content=content, headers={"content-type": "application/json"})
    assert "no day lies" not in answer.text
    assert answer.status_code in (400, 404, 422)


@pytest.mark.parametrize(("role", "status"), [(None, 401), ("viewer", 403)])
@pytest.mark.parametrize(
    ("address", "body"), [(RUNS, {"logical_date": None, "conf": TURNED}), (BACKFILLS, backfill(TURNED))]
)
def test_users_who_may_not_start_the_run_learn_nothing_of_the_form(
    server: FastAPI, role: str | None, status: int, address: str, body: dict[str, Any]
) -> None:
    """The answer named tables and dates to everybody, also without a login."""
    assert signed_in(server, role).post(address, json=body).status_code == status


def test_a_token_in_the_header_counts_as_airflow_counts_it(server: FastAPI) -> None:
    client = signed_in(server, "admin")
    token = client.cookies.get("_token")
    client.cookies.clear()
    body = {"logical_date": None, "conf": TURNED}
    assert client.post(RUNS, json=body, headers={"Authorization": f"Bearer {token}"}).status_code == 400
    assert client.post(RUNS, json=body, headers={"Authorization": "Bearer wrong"}).status_code == 403
