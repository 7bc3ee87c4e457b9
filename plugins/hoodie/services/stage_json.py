"""Decisions for programs: the fields of stages as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from hoodie.services.measures import Measure
from hoodie.services.stages import (
    Backlog,
    CatalogChanges,
    DataSkipping,
    ExpiredPlans,
    Facts,
    FilesLeftOut,
    Freed,
    Item,
    Items,
    KeptByPurge,
    KeptPartitions,
    Notes,
    OverdueTrash,
    Repairs,
    Stage,
    StaysAside,
)


def stage_fields(stages: Iterable[Stage]) -> dict[str, Any]:
    """The fields of all stages but the items, together."""
    return {name: _plain(value) for stage in stages for name, value in _fields(stage).items()}


def items_fields(items: Items) -> dict[str, Any]:
    """The items of a plan, and their bytes."""
    return {"bytes": items.bytes, "files": [_item(item) for item in items]}


def measure_fields(measure: Measure) -> dict[str, Any]:
    """A measured value, its limit, and whether that is reached."""
    return {**asdict(measure), "reached": measure.reached}


def _fields(stage: Stage) -> Mapping[str, Any]:
    match stage:
        case Items() | Notes():
            return {}
        case Facts(values):
            return values
        case Freed(size, moment):
            return {"bytes_freed": size, "freed_from": moment.isoformat() if moment is not None else None}
        case Backlog(plans=plans):
            backlog = asdict(stage)
            named = backlog.pop("plans")
            return {"backlog": backlog if plans is None else {**backlog, "pending_plans": named}}
        case DataSkipping(filters):
            shares = [
                (column_filter.column, round(column_filter.before, 3), round(column_filter.after, 3))
                for column_filter in filters
            ]
            return {
                "skipping": [dict(zip(("column", "read_before", "read_after"), share, strict=True)) for share in shares]
            }
        case ExpiredPlans(instants):
            return {"expired_plans": instants}
        case OverdueTrash(folders):
            return {"overdue_trash": [{"clean": folder.clean, "until": folder.until.isoformat()} for folder in folders]}
        case StaysAside(files):
            return {"stay_aside": _with_reasons(files)}
        case FilesLeftOut(changed, files):
            return {"changed_after_load": changed, "left_out": _with_reasons(files)}
        case KeptByPurge(left=left):
            return {**asdict(stage), "left": [{"path": file.path, "what": file.contents} for file in left]}
        case CatalogChanges(instant, extractor, actions):
            changes = [{"kind": type(action).__name__, "text": str(action)} for action in actions]
            return {"instant": instant, "extractor": extractor, "actions": changes}
        case KeptPartitions(undated, absent, later):
            return {"undated": undated, "absent": absent, "later": later}
        case Repairs(remaining, off, missing):
            return {"not_repaired": remaining, "metadata_table_off": off, "missing_files": missing}
        case _:
            return asdict(stage)


def _with_reasons(files: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"path": path, "reason": reason} for path, reason in files]


def _plain(value: Any) -> Any:
    """The value with lists in place of tuples, which stores of results would write as a type of their own."""
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return {name: _plain(part) for name, part in value.items()} if isinstance(value, dict) else value


def _item(item: Item) -> dict[str, Any]:
    reason = {"reason": item.reason} if item.reason is not None else {}
    return {"path": item.path, "bytes": item.bytes, **item.facts, **reason}
