"""Rows of a table, what changed between two of its instants, and the changes of its newest commits: the pages that look at the
lake, when a user asks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response
from pydantic import AfterValidator

from hoodie_airflow.pages.access import Rights, User
from hoodie_airflow.pages.responses import as_json, current_registry, table_seen
from hoodie_airflow.pages.subprocess_query import looked
from hudi_services.entry.dag import dag_id
from hudi_services.entry.source import FolderSource, TopicSource
from hudi_services.entry.table import Table
from hudi_services.operations.inspect.rows import cut

_LIMIT = 100  # rows of a sample
_CHANGED = 50  # rows of a comparison
_COMMITS = 20  # commits whose changes are counted
_COUNTED_BYTES = 256 << 20  # bytes of data files that are read for that
_WIDTH = 200  # characters of a value
_QUARANTINED = 500  # rows of a quarantine
_LINE = 4000  # characters of a row in it
_OF_ROWS = (422, 502, 504)  # refused, out of memory, out of time: a comparison may do without rows


def _instant(text: str) -> str:
    if not re.fullmatch(r"[0-9]{14}([0-9]{3})?", text):
        raise ValueError("it is no instant, which has 14 or 17 digits")
    return text


Instant = Annotated[str, AfterValidator(_instant)]
Partition = Annotated[str, Query(max_length=2000, pattern=r"^[^\x00]*$")]

routes = APIRouter()


@routes.get("/api/tables/{name}/rows")
def rows(name: str, user: User, as_of: Instant | None = None, partition: Partition | None = None) -> Response:
    """A sample, as of an instant or now, of a partition or all."""
    rights = Rights(user)
    table = table_seen(name, rights)
    if refusal := _refusal(table, rights):
        raise HTTPException(403, refusal)
    command = ["show", "rows", f"--limit={_LIMIT}"]
    command += [f"--as-of={as_of}"] if as_of is not None else []
    command += [f"--partition={partition}"] if partition is not None else []
    command += _left_out(table)
    result = looked(current_registry().registry.file, table, command, user.get_name())
    # Lists, structs and maps as text: a browser shows no object, and holds no long number inside it.
    cut_rows = [[cut(value, _WIDTH) for value in row] for row in result["rows"]]
    return as_json({**result, "rows": cut_rows})


@routes.get("/api/tables/{name}/quarantine")
def quarantine(name: str, user: User) -> Response:
    """Rows that loads could not write, for users who may see rows of a table without hidden columns: a reason or an unread
    line may hold any value."""
    rights = Rights(user)
    table = table_seen(name, rights)
    if refusal := _refusal(table, rights) or _secret(table):
        raise HTTPException(403, refusal)
    command = ["show", "quarantine", f"--limit={_QUARANTINED}"]
    result = looked(current_registry().registry.file, table, command, user.get_name())
    rows = [{**row, "row": _text(row["row"])} for row in result["rows"]]
    source = table.source.path.rstrip("/") if isinstance(table.source, FolderSource) else None
    files = sorted({str(row["file"]) for row in rows})
    below = [file.removeprefix(f"{source}/") for file in files] if source is not None else []
    reload = {"dag": dag_id("ingest", name), "files": below} if _can_start(table, rights, name) and below else None
    return as_json({**result, "rows": rows, "again": reload})


@routes.get("/api/tables/{name}/compare")
def compare(name: str, user: User, first: Instant, last: Instant | None = None) -> Response:
    """The commits' counts of the time between, and rows that differ, where the user may see rows."""
    rights = Rights(user)
    table = table_seen(name, rights)
    refusal = _refusal(table, rights)
    command = ["diff", first, *([last] if last is not None else [])]
    result: dict[str, Any] = {}
    if refusal is None:
        try:
            with_rows = [*command, f"--rows={_CHANGED}", *_left_out(table)]
            result = looked(current_registry().registry.file, table, with_rows, user.get_name())
        except HTTPException as error:
            if error.status_code not in _OF_ROWS:
                raise
            refusal = f"The rows cannot be compared: {error.detail}"
    # Counts of commits exist for tables with virtual keys, too, and where a clean has removed the files.
    result = result or looked(current_registry().registry.file, table, command, user.get_name())
    hidden = bool(table.pages.hidden)
    changed = [_cut_row(row) for row in result.get("rows", ())]
    return as_json({**result, "rows": changed, "rows_refused": refusal, "hidden": hidden})


@routes.get("/api/tables/{name}/changes")
def changes(name: str, user: User) -> Response:
    """The rows that each of the newest commits inserted, updated and deleted: numbers, for all who see the table."""
    table = table_seen(name, Rights(user))
    command = ["show", "changes", f"--last={_COMMITS}", f"--most-bytes={_COUNTED_BYTES}"]
    return as_json(looked(current_registry().registry.file, table, command, user.get_name()))


def shows_rows(table: Table, rights: Rights) -> bool:
    """Return true if the user may see rows of the table."""
    return _refusal(table, rights) is None


def shows_quarantine(table: Table, rights: Rights) -> bool:
    """Return true if the user may see the rows that loads of the table could not write."""
    return isinstance(table.source, FolderSource | TopicSource) and not (_refusal(table, rights) or _secret(table))


def _refusal(table: Table, rights: Rights) -> str | None:
    """The reason why the user may see no rows; None for a user who may."""
    if not table.pages.rows:
        return f"Rows are shown where the registry says `pages: {{rows: true}}`, and it does not of table {table.name}."
    if not rights.reads_results(table):
        return "Rows are shown to users who may read the XComs of the table's DAGs."
    return None


def _secret(table: Table) -> str | None:
    if not table.pages.hidden:
        return None
    return f"Table {table.name} has hidden columns, and a row that no load could read may hold them."


def _can_start(table: Table, rights: Rights, name: str) -> bool:
    return dag_id("ingest", name) in rights.starts(table)


def _text(row: Any) -> str:
    return str(cut(row if isinstance(row, str) else json.dumps(row), _LINE))


def _left_out(table: Table) -> list[str]:
    return [f"--without={column}" for column in table.pages.hidden]


def _cut_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values as a page can show them. A row without a key is one whose key has columns that are hidden."""
    images = {
        side: {name: cut(value, _WIDTH) for name, value in values.items()} if values else None
        for side, values in (("before", row["before"]), ("after", row["after"]))
    }
    return {**row, **images, "key": cut(row["key"], _WIDTH)}
