"""Forms whose fields contradict each other, such as dates that are turned round: refused before a run of them is there.

Airflow checks each field by itself. Each process of Airflow imports this module, and only the API server uses it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

_STARTS = re.compile(r"/api/v2/(?:dags/(?P<dag>[^/]+)/dagRuns|backfills(?:/dry_run)?)/?$")


class FormCheck:
    """Middleware (ASGI) that answers HTTP 400 to requests for such a run or backfill, and hands all others on.

    Airflow itself answers users who may not start it: they learn nothing of the registry.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        asks = _STARTS.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if asks is None:
            await self._app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        body = b"".join(message.get("body", b"") for message in messages)
        dag, problem = await asyncio.to_thread(_problem, asks["dag"], body)
        if problem is None or not await _may_start(scope, dag):
            replayed = iter(messages)

            async def received() -> Any:
                return next(replayed, None) or await receive()

            await self._app(scope, received, send)
            return
        answer = json.dumps({"detail": problem}).encode()
        await send({"type": "http.response.start", "status": 400, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": answer})


async def _may_start(scope: Any, dag: str) -> bool:
    # Imported here: Airflow's API takes seconds to load.
    from airflow.api_fastapi.core_api.security import bearer_scheme, get_user
    from fastapi import HTTPException, Request

    from hoodie_airflow.pages.access import may_start

    request = Request(scope)
    try:
        user = await get_user(request, None, await bearer_scheme(request))
    except HTTPException:
        return False
    return await asyncio.to_thread(may_start, user, dag)


def _problem(dag: str | None, body: bytes) -> tuple[str, str | None]:
    """Return the DAG, and what contradicts itself; None also for what Airflow itself refuses, and for DAGs of others."""
    try:
        request = json.loads(body)
        name, run_type, params = (dag, "manual", request.get("conf")) if dag else _backfill(request)
    except (ValueError, AttributeError, RecursionError):
        return "", None
    return (name, form_problem(name, run_type, params or {})) if isinstance(name, str) else ("", None)


def _backfill(request: Mapping[str, Any]) -> tuple[Any, str, Any]:
    return request.get("dag_id"), "backfill", request.get("dag_run_conf")


def form_problem(dag: str, run_type: str, params: Mapping[str, Any]) -> str | None:
    """Return what contradicts itself in the form of a run of a table's DAG; None where nothing does."""
    # Imported here: the registry's reader takes a while to load.
    from hoodie.errors import ConfigError
    from hoodie_airflow.pages.responses import current_registry
    from hudi_services.entry.dag import RunRequest
    from hudi_services.operations.pages.table import of_dag
    from hudi_services.services.entries import ENTRIES

    name, service = of_dag(dag)
    table = current_registry().registry.table(name)
    entry = next((service_entry for service_entry in ENTRIES if service_entry.name == service), None)
    if entry is None or table is None or not entry.has_dag(table):
        return None
    defaults = {field.name: field.default for field in entry.dag.form(table)}
    try:
        entry.called_with(table, RunRequest(params={**defaults, **params}, run_type=run_type))
    except (ValueError, ConfigError) as error:
        return str(error)
    except (TypeError, AttributeError, OverflowError):  # a field of another type than the form has, or no finite number
        return None
    return None
