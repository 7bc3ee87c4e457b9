"""Calls of Airflow's REST API, without an Airflow."""

from __future__ import annotations

from typing import Any

import pytest

from hudi_services.local_airflow.api import AirflowApi, ApiError


class Pools(AirflowApi):
    """Airflow's own pool is there, and a pool of a user."""

    def __init__(self, status: int = 404) -> None:
        super().__init__("http://127.0.0.1:1", "admin", "secret")
        self.status = status
        self.calls: list[tuple[str, str, Any]] = []

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        self.calls.append((method, path, body))
        if method == "PATCH" and "/pools/default_pool?" not in path and "/pools/of%2Fmine?" not in path:
            refused = ApiError("no")
            refused.status = self.status
            raise refused


MASK = "?update_mask=slots&update_mask=include_deferred"


def test_pools_are_made_or_resized() -> None:
    api = Pools()
    api.make_pools({"slow": 1, "of/mine": 3, "default_pool": 64})
    made = {"name": "slow", "description": "from the registry of Hudi tables", "slots": 1, "include_deferred": False}
    assert api.calls == [
        (
            "PATCH",
            f"/pools/default_pool{MASK}",
            {"pool": "default_pool", "slots": 64, "include_deferred": False},
        ),
        ("PATCH", f"/pools/of%2Fmine{MASK}", {"pool": "of/mine", "slots": 3, "include_deferred": False}),
        ("PATCH", f"/pools/slow{MASK}", {"pool": "slow", "slots": 1, "include_deferred": False}),
        ("POST", "/pools", made),
    ]


def test_a_refusal_makes_no_pool() -> None:
    api = Pools(403)
    with pytest.raises(ApiError):
        api.make_pools({"slow": 1})
    assert [method for method, *_ in api.calls] == ["PATCH"]
