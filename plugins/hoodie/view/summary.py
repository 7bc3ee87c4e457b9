"""Summary of a table for people, in consoles, logs and notebooks."""

from __future__ import annotations

from hoodie.display import Shown, counted
from hoodie.view.access import TableAccess
from hoodie.view.state import TableState
from hoodie.view.table_schema import table_schema


def shown_table(access: TableAccess) -> Shown:
    """The table as it is now: two storage calls, and one for its columns. Raises nothing."""
    path = access.storage.base_path
    try:
        return _summary_of(path, access.state())
    except Exception as error:  # noqa: BLE001 - any error of a storage
        return Shown(f"HoodieTable({path!r}, cannot be read: {type(error).__name__})", [("why", error)])


def _summary_of(path: str, state: TableState) -> Shown:
    properties, timeline = state.properties, state.timeline
    line = f"HoodieTable({path!r}, {properties.table_type} v{properties.version}, {counted(len(timeline.commits), 'commit')})"
    last = timeline.last_commit
    facts: list[tuple[str, object]] = [
        ("name", properties.name),
        ("record key", ", ".join(properties.record_key_fields) or "generated"),
        ("partitions by", ", ".join(properties.partition_fields) or "nothing"),
        ("ordering", ", ".join(properties.ordering_fields) or "none: the later write wins"),
        ("last commit", last if last is not None else "none"),
        ("pending", len(timeline.pending)),
    ]
    schema = table_schema(state)
    rows = (
        [] if schema is None else [(field.name, field.type, "" if field.nullable else "required") for field in schema]
    )
    return Shown(line, facts, ("column", "type", ""), rows)
