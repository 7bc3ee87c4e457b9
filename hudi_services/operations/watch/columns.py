"""The columns of a table and their changes, from its commits (format notes, section 2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hoodie.errors import HoodieError
from hoodie.schema import avro_to_arrow, data_columns
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.view.table_schema import table_schema
from hudi_services.operations.inspect.history import read_once
from hudi_services.operations.inspect.table_look import Look

_KEPT = 100  # changes, the newest
_MOST_LINES = 50  # columns of one change
_TYPE = 200  # characters of a type, which may be a struct of many columns

Columns = Sequence[Mapping[str, str]]


def columns_since(look: Look, before: Mapping[str, Any] | None, fresh: Iterable[Instant]) -> dict[str, Any]:
    """`now`: the columns, by name and type; `changes`: when which of them came, went or became another type, the oldest first,
    each with its `instant`. `before` is what the last look gave, None at the first: then nothing has changed yet. `fresh` are the
    instants that were completed since, whose commits are read; what a restore took back shows with the last of them.

    Commits whose schema cannot be read are passed over.
    """
    instants = sorted(fresh, key=lambda commit: commit.completion_time or commit.time)
    if before is None:
        return {"now": _now(look) or [], "changes": []}
    columns, changes = before["now"], list(before["changes"])
    for instant in instants:
        commit_columns = _of_commit(look, instant) if instant.action.completed_as in WRITE_ACTIONS else None
        columns = _follow(look, instant, columns, commit_columns, changes)
    if instants:
        columns = _follow(look, instants[-1], columns, _now(look), changes)
    return {"now": list(columns), "changes": changes[-_KEPT:]}


def _follow(
    look: Look, instant: Instant, before: Columns, columns: Columns | None, changes: list[dict[str, Any]]
) -> Columns:
    if columns is None or columns == before:
        return before
    lines = list(_changes(before, columns))
    change_lines = lines[:_MOST_LINES] + ([f"and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else [])
    completed = look.completed(instant) or look.began(instant)
    changes.append({"instant": str(instant.time), "completed": completed.isoformat(), "changes": change_lines})
    return columns


def _changes(before: Columns, after: Columns) -> Iterator[str]:
    old, new = ({column["name"]: column["type"] for column in columns} for columns in (before, after))
    yield from (f"added {name}, {kind}" for name, kind in new.items() if name not in old)
    yield from (f"dropped {name}, {kind}" for name, kind in old.items() if name not in new)
    yield from (f"{name} from {old[name]} to {kind}" for name, kind in new.items() if old.get(name, kind) != kind)
    if [name for name in old if name in new] != [name for name in new if name in old]:
        yield "another order"


def _of_commit(look: Look, instant: Instant) -> Columns | None:
    try:
        text = read_once(look, instant).schema
        return _columns(data_columns(avro_to_arrow(text))) if text else None
    except HoodieError:
        return None


def _now(look: Look) -> Columns | None:
    try:
        schema = table_schema(look.state)
    except HoodieError:
        return None
    return _columns(schema) if schema is not None else None


def _columns(schema: pa.Schema) -> Columns:
    return [{"name": field.name, "type": _short_type(str(field.type))} for field in schema]


def _short_type(kind: str) -> str:
    return kind if len(kind) <= _TYPE else f"{kind[:_TYPE]}…"
