"""A table is paused and resumed from its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from airflow.api_fastapi.app import get_auth_manager
from fastapi import FastAPI

from hoodie import HoodieTable
from hudi_services.registry.load import read_registry
from hudi_services.runtime.pause import read_pause
from tests.support.airflow_pages import PAUSE, signed_in, watch

pytestmark = pytest.mark.process


def test_a_table_is_paused_and_resumed_from_its_page(server: FastAPI, registry: Path, orders: HoodieTable) -> None:
    client, asked = (
        signed_in(server, "admin"),
        {"reason": "<b>moved</b> to\nanother bucket", "until": "2099-01-02T03:04:00Z"},
    )
    assert client.get("/hudi/api/tables/orders").json()["may_pause"]
    made = client.post(PAUSE, json=asked).json()["paused"]
    assert made["by"] == "admin"
    assert made["reason"] == "<b>moved</b> to another bucket"
    assert made["until"] == "2099-01-02T03:04:00+00:00"
    held = read_pause(orders.storage, orders.clock)
    assert held is not None
    assert held.as_dict() == made
    again = client.post(PAUSE, json=asked)
    assert again.status_code == 409
    assert "by admin since" in again.json()["detail"]
    watch(read_registry(registry).registry, orders)  # though nothing happened on its timeline
    page = client.get("/hudi/api/tables/orders").json()
    assert page["row"]["state"] == "paused"
    assert [each["text"] for each in page["seen"]["waiting"] if each["kind"] == "paused"] == [str(held)]
    other = client.delete(PAUSE, params={"shown": str(held).replace("admin", "ann")})
    assert (other.status_code, other.json()["detail"].startswith("Another pause of table")) == (409, True)
    assert read_pause(orders.storage, orders.clock) == held
    assert client.delete(PAUSE, params={"shown": str(held)}).json()["resumed"] == made
    assert client.delete(PAUSE).json() == {"resumed": None}
    assert read_pause(orders.storage, orders.clock) is None
    watch(read_registry(registry).registry, orders)
    assert client.get("/hudi/api/tables/orders").json()["row"]["state"] == "ok"


@pytest.mark.parametrize("role", ["viewer", "user"])
def test_who_may_not_pause_dags_pauses_no_table(
    server: FastAPI, orders: HoodieTable, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(server, role)
    if role == "user":  # may pause all DAGs of Airflow but one of this table
        rights = get_auth_manager().get_authorized_dag_ids

        def but_one(*, user: Any, method: str = "GET", **more: Any) -> set[str]:
            return rights(user=user, method=method, **more) - ({"hudi_clean__orders"} if method == "PUT" else set())

        monkeypatch.setattr(get_auth_manager(), "get_authorized_dag_ids", but_one)
    assert client.get("/hudi/api/tables/orders").json()["may_pause"] is False
    for answer in (client.post(PAUSE, json={"reason": "x"}), client.delete(PAUSE)):
        assert answer.status_code == 403
        assert "allowed to pause all of its DAGs" in answer.json()["detail"]
    assert read_pause(orders.storage, orders.clock) is None


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (
            {"content": '{"reason": "x"}', "headers": {"Content-Type": "text/plain"}},
            422,
        ),  # what a form of another site sends
        ({"content": '{"reason": "x"}', "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, 422),
        ({"content": '{"reason": "x"}'}, 422),
        ({"json": {"reason": "  \n"}}, 422),
        ({"json": {"reason": "x" * 1001}}, 422),
        ({"json": {"reason": "x", "until": "2001-01-01T00:00"}}, 422),
        ({"json": {"reason": "x", "until": "tomorrow"}}, 422),
        ({"content": '{"reason": "x", "until": NaN}', "headers": {"Content-Type": "application/json"}}, 422),
        ({"json": {"reason": "x", "until": "9999-12-31T23:59:59-01:00"}}, 422),  # past the last time
        ({"json": {"reason": 1}}, 422),
        ({"json": {"reason": "x", "by": "somebody else"}}, 422),
        ({"json": {}}, 422),
    ],
)
def test_what_no_pause_is_asked_for_with(
    server: FastAPI, orders: HoodieTable, asked: dict[str, Any], status: int
) -> None:
    assert signed_in(server, "admin").post(PAUSE, **asked).status_code == status
    assert read_pause(orders.storage, orders.clock) is None


def test_a_table_that_the_server_cannot_reach_is_not_paused(server: FastAPI, registry: Path) -> None:
    for answer in (
        signed_in(server, "admin").post(PAUSE, json={"reason": "x"}),
        signed_in(server, "admin").delete(PAUSE),
    ):
        assert answer.status_code == 502
        assert "hudi-services pause --table orders" in answer.json()["detail"]
    assert signed_in(server, "admin").delete(PAUSE.replace("orders", "nothing")).status_code == 404
