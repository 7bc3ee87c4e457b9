"""What `as_of` may be, and whether the table can still be read there."""

from __future__ import annotations

from datetime import UTC, datetime

from hoodie.errors import TimeTravelError
from hoodie.model.files import FileGroup
from hoodie.model.names import BaseFileName
from hoodie.timeline import Action, format_time, pad
from hoodie.timeline.service_codec import decode_clean_result
from hoodie.view.replaced import replaced_groups
from hoodie.view.slices import GroupId
from hoodie.view.state import TableState


def moment_as_time(state: TableState, moment: str | datetime) -> str:
    """Instant text of an instant (14 or 17 digits), ISO date or time, or datetime (naive ones are UTC).

    Raises TimeTravelError when it is none of these.
    """
    text = moment if isinstance(moment, str) else None
    if text is not None and text.isdigit() and len(text) in (14, 17):
        return pad(text)
    try:
        parsed = datetime.fromisoformat(text) if text is not None else moment
    except ValueError:
        raise TimeTravelError(
            f"Cannot read as of {moment!r}", fix="give an instant (yyyyMMddHHmmssSSS) or an ISO date or time"
        ) from None
    assert isinstance(parsed, datetime)
    return format_time(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC), state.zone)


def resolve_as_of(state: TableState, as_of: str | datetime) -> str:
    """`as_of` as instant text (see `moment_as_time`).

    Raises TimeTravelError also when it is earlier than the table's first commit.
    """
    time = moment_as_time(state, as_of)
    first = next((instant.time for instant in state.timeline.commits), None)
    if first is None or time < pad(first):
        raise TimeTravelError(
            f"Table {state.storage.base_path} cannot be read as of {time}",
            found=f"the first commit on the active timeline is {first or '(none)'}",
            fix="ask for a later time; what lies before it was archived",
        )
    return time


def check_not_cleaned(state: TableState, as_of: str, groups: list[FileGroup]) -> None:
    """Raises TimeTravelError when a clean removed a slice that was current at `as_of` (requirement R31)."""
    replaced = replaced_groups(state)
    oldest: dict[GroupId, str] = {(g.partition, g.file_id): pad(g.slices[-1].base_instant) for g in groups}
    for clean in reversed(state.timeline.completed(Action.CLEAN)):
        result = decode_clean_result(state.body(clean), state.where(clean))
        for partition, names in result.deleted.items():
            for name in names:
                base = BaseFileName.parse(name)
                if base is None or pad(base.instant) > as_of:
                    continue
                group = (partition, base.file_id)
                if group not in oldest:
                    # Only groups that were replaced lose all slices. A replacement that was archived is before any `as_of`.
                    missing = group in replaced and pad(replaced[group].time) > as_of
                else:
                    missing = oldest[group] > as_of
                if missing:
                    raise TimeTravelError(
                        f"Table {state.storage.base_path} cannot be read as of {as_of}",
                        found=f"clean {clean.time} removed {name} of partition {partition!r}, which was current then",
                        fix="ask for a later time, or retain more commits (hoodie.clean.commits.retained)",
                    )
