"""Values of `as_of`, and the check that the table can still be read there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from hoodie.errors import TimeTravelError, check_argument
from hoodie.model.clean import CleanResult
from hoodie.model.files import GroupId
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.time import BEGINNING, Time, with_milliseconds
from hoodie.storage.base import join
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, format_time
from hoodie.times import iso_time
from hoodie.view import TableState, TableView


def is_instant(text: str) -> bool:
    """Return whether the text is an instant as the timeline has it: 14 or 17 digits."""
    return text.isascii() and text.isdigit() and len(text) in (14, 17)


def moment_as_time(state: TableState, moment: str | datetime) -> Time:
    """Instant text of an instant (14 or 17 digits), ISO date or time, or datetime (naive ones are UTC).

    Raises TimeTravelError for other text, and for the hour that comes twice in the table's zone. Raises ArgumentError for
    anything else.
    """
    check_argument("as_of, start or end", moment, "an instant or ISO time as text, or a datetime", str, datetime)
    if isinstance(moment, str) and is_instant(moment):
        return Time.of(with_milliseconds(moment))
    try:
        parsed = iso_time(moment) if isinstance(moment, str) else moment
    except ValueError:
        raise TimeTravelError(
            f"Cannot read as of {moment!r}", fix="give an instant (yyyyMMddHHmmssSSS) or an ISO date or time"
        ) from None
    try:
        local = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(state.zone)
        if _comes_twice(local):
            raise TimeTravelError(
                f"Cannot read as of {moment!r}",
                found=f"instants of the table are local times ({state.properties.zone_name}), and {local:%Y-%m-%d %H:%M} comes "
                "twice, as clocks go back then",
                fix="give an instant of `hudi-services show commits`, or a time outside this hour",
            )
        return format_time(local, state.zone)
    except (OverflowError, ValueError) as error:  # a time zone away from the first or last year
        raise TimeTravelError(f"Cannot read as of {moment!r}", found=str(error), fix="give another time") from error


def _comes_twice(local: datetime) -> bool:
    """True for a local time of the hour by which clocks go back."""
    first = datetime(local.year, local.month, local.day, local.hour, local.minute, tzinfo=local.tzinfo)
    return first.utcoffset() != first.replace(fold=1).utcoffset()


def resolve_as_of(state: TableState, as_of: str | datetime) -> Time:
    """`as_of` as instant text (see `moment_as_time`).

    Raises TimeTravelError also when it is earlier than the table's first commit, archived ones included.
    """
    time = moment_as_time(state, as_of)
    commits = state.timeline.commits
    if commits and time >= commits[0].time:
        return time
    archived = [instant for instant in state.archive.instants() if instant.action in WRITE_ACTIONS]
    if archived and time >= archived[0].time:
        return time
    first = next(iter((*archived, *commits)), None)
    raise TimeTravelError(
        f"Table {state.storage.base_path} cannot be read as of {time}",
        found=f"its first commit is {first.time if first else '(none)'}",
        fix=f"ask for {first.time}, or a later time. If that is later than now, the clock of its writer was ahead: "
        "`hudi-services doctor` says what to do"
        if first
        else "write to it first",
    )


@dataclass(frozen=True, slots=True)
class _Gap:
    """From `begin` on, and before `end`, a group cannot be read: a clean removed what was current then."""

    begin: Time
    end: Time
    partition: str
    name: str
    clean: str


def check_not_cleaned(view: TableView) -> None:
    """Raises TimeTravelError when a clean, archived or not, removed a slice that was current at `as_of`.

    With a `choice` only partitions that it wants count.
    """
    as_of = view.as_of
    if as_of is None:
        return
    gaps = sorted(_gaps(view, as_of), key=lambda gap: gap.begin)
    gap_at = next((gap for gap in gaps if gap.begin <= as_of < gap.end), None)
    if gap_at is None:
        return
    readable = as_of
    for gap in gaps:
        if gap.begin <= readable < gap.end:
            readable = gap.end
    raise TimeTravelError(
        f"Table {view.state.storage.base_path} cannot be read as of {as_of}",
        found=f"clean {gap_at.clean} removed {gap_at.name} of partition {gap_at.partition!r}, which was current then",
        fix=f"ask for {readable}, the first instant after it that can be read, or a later one; "
        "or retain more commits (hoodie.clean.commits.retained)",
    )


def _gaps(view: TableView, as_of: Time) -> Iterator[_Gap]:
    state, choice = view.state, view.choice
    begins = {g.group: [s.base_instant for s in reversed(g.slices)] for g in view.groups}
    restored: set[str] | None = None  # files that were put back after a clean had set them aside
    replaced: dict[GroupId, Time] | None = None
    for clean, result in cleans_after(state, as_of):
        cleaned = result.deleted if choice is None else choice.partitions(sorted(result.deleted))
        for partition in cleaned:
            for name in result.deleted[partition]:
                file = _group_and_time(name)
                if file is None:
                    continue
                file_id, begin = file
                restored = (
                    restored
                    if restored is not None
                    else {path for g in view.groups for s in g.slices for path in s.paths}
                )
                if join(partition, name) in restored:
                    continue
                group = GroupId(partition, file_id)
                end = next((time for time in begins.get(group, ()) if time > begin), None)
                if end is None:  # only groups that were replaced lose all slices
                    replaced = _replaced(state, as_of) if replaced is None else replaced
                    end = replaced.get(group, BEGINNING)  # before `as_of`, when the replacement is not after it
                yield _Gap(begin, end, partition, name, clean.time)


def _group_and_time(name: str) -> tuple[str, Time] | None:
    """File id and time of a base file, or of a log: its slice, or its write (layout 2), began then."""
    base = BaseFileName.parse(name)
    if base is not None:
        return base.file_id, base.instant
    log = LogFileName.parse(name)
    return (log.file_id, log.time) if log is not None and not log.is_cdc else None


def cleans_after(state: TableState, as_of: Time) -> Iterator[tuple[Instant, CleanResult]]:
    """The completed cleans, archived or not, that may have removed what was current at `as_of`, the newest first."""
    cleans = state.timeline.completed(Action.CLEAN)
    for clean in reversed(cleans):
        yield clean, state.clean_result(clean)
    # Archived ones are older than those, and an archiver that follows the commits leaves none later than these.
    if (cleans and cleans[0].time > as_of) or not state.timeline.covers(as_of):
        for clean in reversed(state.archive.instants(after=as_of)):
            if clean.action is Action.CLEAN:
                yield clean, state.archive.clean_result(clean)


def _replaced(state: TableState, as_of: Time) -> dict[GroupId, Time]:
    """Groups that were replaced after `as_of` -> the time of the replacement."""
    result: dict[GroupId, Time] = {}
    if not state.timeline.covers(as_of):
        for instant in state.archive.instants(after=as_of):
            if instant.action is Action.REPLACE_COMMIT:
                groups = state.commit_metadata(instant).replaced_groups
                result.update(dict.fromkeys(groups, instant.time))
    result.update({group: instant.time for group, instant in TableView(state).replaced.items()})
    return result
