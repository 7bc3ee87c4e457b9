"""Requests to the pages in Airflow's API server, by role."""

from __future__ import annotations

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from fastapi import FastAPI
from fastapi.testclient import TestClient

from hoodie import HoodieTable
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from hudi_services.registry.load import Registry

PAUSE = "/hudi/api/tables/orders/pause"
ROLES = ("viewer", "user", "op", "admin")
REGISTRY = """\
tables:
  - {name: orders, base_path: /lake/orders, description: "<img src=x onerror=alert(1)>"}
  - {name: visits, base_path: /lake/visits, clean: {schedule: 0 4 * * *}}
"""


def signed_in(server: FastAPI, role: str | None) -> TestClient:
    """A client with the cookie that a browser sends, or without it."""
    client = TestClient(server, follow_redirects=False)
    if role is not None:
        token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username=role, role=role))
        client.cookies.set("_token", token)
    return client


def watch(registry: Registry, table: HoodieTable) -> None:
    """A watcher looks at the table of orders once."""
    entry = registry.table("orders")
    assert entry is not None
    look(entry, SnapshotStore.open(store_of(registry), make=True), table.clock)
