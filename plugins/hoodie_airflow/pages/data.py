"""Rows of a table, what changed between two of its instants, and the changes of its newest commits: the pages that look at the
lake, when a user asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response
from pydantic import AfterValidator

from hoodie_airflow.pages.access import Rights, User
from hoodie_airflow.pages.responses import as_json, current_registry, table_seen
from hoodie_airflow.pages.subprocess_query import looked
from hudi_services.entry.table import Table
from hudi_services.operations.inspect.rows import cut

_LIMIT = 100  # rows of a sample
_CHANGED = 50  # rows of a comparison
_COMMITS = 20  # commits whose changes are counted
_COUNTED_BYTES = 256 << 20  # bytes of data files that are read for that
_WIDTH = 200  # characters of a value
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
    shown = [[cut(value, _WIDTH) for value in row] for row in result["rows"]]
    return as_json({**result, "rows": shown})


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
    changed = [_shown(row) for row in result.get("rows", ())]
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


def _refusal(table: Table, rights: Rights) -> str | None:
    """The reason why the user may see no rows; None for a user who may."""
    if not table.pages.rows:
        return f"Rows are shown where the registry says `pages: {{rows: true}}`, and it does not of table {table.name}."
    if not rights.reads_results(table):
        return "Rows are shown to users who may read the XComs of the table's DAGs."
    return None


def _left_out(table: Table) -> list[str]:
    return [f"--without={column}" for column in table.pages.hidden]


def _shown(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values as a page can show them. A row without a key is one whose key has columns that are hidden."""
    kept = {
        side: {name: cut(value, _WIDTH) for name, value in values.items()} if values else None
        for side, values in (("before", row["before"]), ("after", row["after"]))
    }
    return {**row, **kept, "key": cut(row["key"], _WIDTH)}
