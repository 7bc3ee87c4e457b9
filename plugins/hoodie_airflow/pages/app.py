"""The routes. Each asks for access; none lists a lake."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow.api_fastapi.core_api.security import get_user
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError

from hoodie_airflow.pages import data, plans
from hoodie_airflow.pages.access import RESULTS, RUNS, SIGNED_IN, Rights, User
from hoodie_airflow.pages.login import add_login
from hoodie_airflow.pages.pauses import WantedPause, pause_table, resume_table
from hoodie_airflow.pages.responses import HEADERS, NO_TABLE, as_json, current_registry, table_seen
from hoodie_airflow.pages.runs import going, last_failure, tried
from hoodie_airflow.pages.servers import page_of_server
from hoodie_airflow.pages.snapshots import doctor_round, fleet_known, source_snapshot, table_known, topic_known
from hudi_services.entry.server import database_dag, resync_dag, verify_dag
from hudi_services.entry.table import Table
from hudi_services.operations.advice.rounds import of_source
from hudi_services.operations.pages.advice import advice_page
from hudi_services.operations.pages.fleet import Fleet, card_of, dags_of, fleet
from hudi_services.operations.pages.run import run_page
from hudi_services.operations.pages.server import server_links
from hudi_services.operations.pages.stream import followed, follows, stream_dag
from hudi_services.operations.pages.table import of_dag, table_of_dag, table_page
from hudi_services.runtime.query_parameters import refuse_others

_WEB = Path(__file__).parent / "web"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
_FILES = {file.name: file for file in _WEB.iterdir() if file.suffix in _KINDS}

routes = APIRouter()


def pages_app() -> FastAPI:
    """The app without the pages of documentation that FastAPI adds: they would ask for no access."""
    app = FastAPI(
        dependencies=[Depends(SIGNED_IN), Depends(refuse_others)], docs_url=None, redoc_url=None, openapi_url=None
    )
    app.include_router(routes)
    app.include_router(data.routes)
    app.include_router(plans.routes)
    app.add_exception_handler(RequestValidationError, _wrong_request)
    add_login(app)
    return app


def card_app() -> FastAPI:
    """The code of the card on the home page, for every user who is signed in; what it shows it asks of `/api/card`."""
    app = FastAPI(dependencies=[Depends(get_user)], docs_url=None, redoc_url=None, openapi_url=None)
    app.add_api_route("/home.js", lambda: _file("home.js"))
    return app


@routes.get("/")
def page() -> Response:
    return _file("index.html")


@routes.get("/static/{name}")
def static(name: str) -> Response:
    return _file(name)


@routes.get("/api/fleet")
def fleet_page(user: User) -> Response:
    return _answer(_fleet(user))


@routes.get("/api/card")
def card(user: User) -> Response:
    return _answer(card_of(_fleet(user)))


@routes.get("/api/tables/{name}")
def table(name: str, user: User) -> Response:
    result = current_registry().registry.table(name)
    return _of_table(result, user, NO_TABLE.format(name))


@routes.get("/api/tables/{name}/advice")
def advice(name: str, user: User) -> Response:
    """The advice on the table, by what the watcher, the doctor and Airflow have seen, and by the state of its server."""
    rights, reading, now = Rights(user), current_registry(), datetime.now(UTC)
    result = table_seen(name, rights)
    looked = table_known(reading.registry, name, rights.dags & dags_of(result))
    doctor, server = doctor_round(reading.registry, result), of_source(result, reading, now)
    starts, shown = rights.starts(result), data.shows_quarantine(result, rights)
    return _answer(
        advice_page(result, looked.known, looked.snapshot, now, starts, doctor, server, shows_quarantine=shown)
    )


@routes.get("/api/servers/{name}")
def server(name: str, user: User) -> Response:
    return _answer(page_of_server(name, current_registry(), Rights(user)))


@routes.post("/api/tables/{name}/pause")
def pause_services(name: str, request: WantedPause, user: User) -> Response:
    """Its body is JSON: a form on another site can send none, nor a DELETE."""
    return as_json(pause_table(current_registry().registry, _to_pause(name, user), request, user.get_name()))


@routes.delete("/api/tables/{name}/pause")
def resume_services(name: str, user: User, shown: str | None = None) -> Response:
    """`shown` is the pause as the page has it: another user may have put one in its place."""
    return as_json(resume_table(current_registry().registry, _to_pause(name, user), user.get_name(), shown))


@routes.get("/api/dags/{dag_id}")
def table_of(dag_id: str, user: User) -> Response:
    """The right to this DAG was asked already: Airflow's own check takes the name from the path."""
    registry = current_registry().registry
    for name in registry.servers:
        if dag_id in (database_dag(name), verify_dag(name), resync_dag(name)):
            return as_json({"of_server": name})
    dag = table_of_dag(dag_id, registry.tables)
    return _of_table(dag, user, f"The DAG {dag_id!r} runs no service of a table of the registry.")


@routes.get("/api/runs/{dag_id}/{run_id}", dependencies=[Depends(RESULTS), Depends(RUNS)])
def run(dag_id: str, run_id: str) -> Response:
    tasks = tried(dag_id, run_id)
    if not tasks and not going(dag_id, run_id).goes_on:
        raise HTTPException(404, f"The DAG {dag_id!r} has no run {run_id!r}, or it has no tasks yet.")
    return _answer(run_page(dag_id, run_id, tasks, datetime.now(UTC), going(dag_id, run_id), of_dag(dag_id)))


def _fleet(user: Any) -> Fleet:
    rights, reading = Rights(user), current_registry()
    fleet_state = fleet_known(reading.registry, rights.dags)
    page = fleet(reading, rights.sees, rights.sees_mistakes, fleet_state, datetime.now(UTC))
    visible_tables = [table for table in reading.registry.tables if rights.sees(table)]
    return replace(page, servers=server_links(reading.registry, visible_tables, rights.dags))


def _to_pause(name: str, user: Any) -> Table:
    rights = Rights(user)
    result = table_seen(name, rights)
    if not rights.pauses(result):
        raise HTTPException(
            403, f"To pause table {name!r}, or to end that, your role must be allowed to pause all of its DAGs."
        )
    return result


def _of_table(table: Table | None, user: Any, otherwise: str) -> Response:
    """Its page. A table that the user may not see is as one that is not there."""
    rights = Rights(user)
    if table is None or not rights.sees(table):
        raise HTTPException(404, otherwise)
    registry = current_registry().registry
    looked = table_known(registry, table.name, rights.dags & dags_of(table))
    page = table_page(table, looked.known, looked.snapshot, looked.events, datetime.now(UTC))
    source = registry.table(followed(table) or "")
    source_state = source_snapshot(registry, source.name) if source is not None and rights.sees(source) else None
    dag = stream_dag(table)
    may_read = dag is not None and dag in rights.dags and rights.reads_results(table)
    error = last_failure(dag) if dag is not None and may_read else None
    page = replace(page, follows=follows(table, source_state, looked.events, error))
    page = replace(page, trends=looked.trends, topic=topic_known(registry, table))
    return _answer(
        replace(
            page,
            may_pause=rights.pauses(table),
            shows_rows=data.shows_rows(table, rights),
            shows_quarantine=data.shows_quarantine(table, rights),
        )
    )


async def _wrong_request(_request: Request, error: Exception) -> Response:
    """The answer to a wrong request. It leaves out what was sent, which FastAPI adds: that may be a number which JSON
    does not know."""
    assert isinstance(error, RequestValidationError)
    result = [{"loc": fault["loc"], "msg": fault["msg"].removeprefix("Value error, ")} for fault in error.errors()]
    return as_json({"detail": result}, 422)


def _file(name: str) -> Response:
    if name not in _FILES:
        raise HTTPException(404, f"There is no file {name!r} of the pages")
    file = _FILES[name]
    return Response(file.read_bytes(), media_type=_KINDS[file.suffix], headers=HEADERS)


def _answer(page: Any) -> Response:
    return as_json(asdict(page))
