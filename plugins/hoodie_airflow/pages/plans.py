"""Plans of small tables, made beside the API server when a user asks: a run of a DAG needs most of a minute before it begins to
plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from fastapi import APIRouter, HTTPException, Response

from hoodie.display import counted
from hoodie_airflow.pages.access import Rights, User
from hoodie_airflow.pages.responses import as_json, current_registry, table_seen
from hoodie_airflow.pages.snapshots import summary_of
from hoodie_airflow.pages.subprocess_query import looked
from hudi_services.entry.dag import EXPLAIN, OPERATION, Run, dag_id
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.operations.pages.run import PLAN, Tried, run_page
from hudi_services.operations.watch.model import Summary
from hudi_services.services.entries import ENTRIES

FILES = 20_000
"""Data files of a table that is small: a plan of one lists them in a second or two on local disks, in about ten on S3."""
PARTITIONS = 2_000
SECONDS = 30.0
_MOST_SHOWN = 2_000  # files of a plan in the answer
_planned: set[str] = set()
_lock = Lock()

routes = APIRouter()


@routes.get("/api/tables/{name}/plans/{service}")
def plan(name: str, service: str, user: User) -> Response:
    """The plan of a service, for users who may start it.

    Raises HTTPException: 409 for a table that is large or was not measured, 429 while the table is being planned.
    """
    rights = Rights(user)
    table = table_seen(name, rights)
    entry = next((entry for entry in ENTRIES if entry.name == service), None)
    if entry is None or not entry.has_dag(table) or OPERATION not in entry.dag.form(table):
        raise HTTPException(404, f"Table {name} has no service {service!r} with a plan.")
    dag = dag_id(service, name)
    if dag not in rights.starts(table):
        raise HTTPException(403, f"To see this plan, your role must be allowed to start runs of {dag}.")
    _check_small(table, summary_of(current_registry().registry, name))
    began = datetime.now(UTC)
    with _one_at_a_time(name):
        command = [service, f"--{EXPLAIN}", *_mode(table, entry)]
        explained = looked(current_registry().registry.file, table, command, user.get_name(), SECONDS)
    ended = datetime.now(UTC)
    outcome = {PLAN: _cut(explained)}
    tried = Tried(service, "success", began, ended, 1, outcome)
    return as_json(asdict(run_page(dag, "", [tried], ended, of=(name, service))))


def _mode(table: Table, entry: ServiceEntry[Any]) -> tuple[str, ...]:
    """The flags by which the first task of the DAG plans: the digest is then that of its plan."""
    section = entry.section_of(table)
    assert section is not None, "the service has a DAG"
    first = next(step for step in entry.dag.steps(table, section) if isinstance(step, Run))
    return ("--mode", first.mode) if first.mode else ()


def _check_small(table: Table, table_summary: Summary | None) -> None:
    if table_summary is None:
        raise HTTPException(
            409, f"The watcher has not measured table {table.name} yet, so only a run of the DAG plans it."
        )
    if table_summary.listed > FILES or table_summary.partitions > PARTITIONS:
        sizes = f"{counted(table_summary.listed, 'file')} in {counted(table_summary.partitions, 'partition')}"
        limits = f"{FILES:,} files and {PARTITIONS:,} partitions"
        raise HTTPException(
            409,
            f"Table {table.name} has {sizes}. Up to {limits}, a plan is made at once. This one needs a run of the DAG.",
        )


@contextmanager
def _one_at_a_time(name: str) -> Iterator[None]:
    with _lock:
        if name in _planned:
            raise HTTPException(429, f"A plan of table {name} is being made already: try again in a moment.")
        _planned.add(name)
    try:
        yield
    finally:
        with _lock:
            _planned.discard(name)


def _cut(explained: Mapping[str, Any]) -> dict[str, Any]:
    files = list(explained.get("files") or ())
    more = len(files) - _MOST_SHOWN
    whole_plan = f"`hudi-services {explained.get('service')} --{EXPLAIN} --json`"
    return {
        **explained,
        "files": files[:_MOST_SHOWN],
        **({"files_left_out": more, "whole_plan": whole_plan} if more > 0 else {}),
    }
