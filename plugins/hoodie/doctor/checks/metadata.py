"""Properties and the files of the timeline."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.config.properties.store import BACKUP, PROPERTIES
from hoodie.display import counted
from hoodie.doctor import catalogue
from hoodie.doctor.facts import Facts, Unreadable
from hoodie.doctor.finding import Finding
from hoodie.doctor.instant_remedy import without_copy
from hoodie.doctor.schema_recovery import recovered_history
from hoodie.errors import unschedule_fix
from hoodie.index.properties_match import FOREIGN_FIX, are_suspect, properties_mismatch
from hoodie.schema.internal import InternalSchema
from hoodie.timeline import Action, Instant, State
from hoodie.view.future import Future
from hoodie.view.schema_history import FOLDER, lacks, stray_history

_LONG = 900  # instants: beyond, a store needs several requests for one listing
_REDONE = frozenset({Action.CLEAN, Action.ROLLBACK})
"""Actions whose contents are computed again when their file is lost: no row depends on them."""
_PLANNED_ANEW = frozenset({Action.CLEAN, Action.ROLLBACK, Action.RESTORE})


def properties(facts: Facts) -> Iterator[Finding]:
    """Against their backup: one is there only while they are changed."""
    file = facts.properties
    if file.flaw is not None:
        yield catalogue.PROPERTIES.finding(
            f"{PROPERTIES} cannot be used, and readers take the backup in its place",
            "run `hudi-services doctor --fix`, or any change of the table: it is restored from its backup",
            found=file.flaw,
            path=PROPERTIES,
        )
    elif file.backup is not None:
        yield catalogue.PROPERTIES_BACKUP.finding(
            f"a change of {PROPERTIES} was cut short after it was complete: its backup is left",
            "run `hudi-services doctor --fix`, or any change of the table: the backup is removed",
            found=file.backup or None,
            path=BACKUP,
        )


def foreign_properties(facts: Facts) -> Iterator[Finding]:
    """Properties of another table, copied over those of this one. Opens a base file only if commits make that likely."""
    if are_suspect(facts.state):
        yield from _foreign_properties(facts)


def foreign_properties_by_rows(facts: Facts) -> Iterator[Finding]:
    """The same of all other tables, by the rows of a base file."""
    if not are_suspect(facts.state):
        yield from _foreign_properties(facts)


def _foreign_properties(facts: Facts) -> Iterator[Finding]:
    if (mismatch := properties_mismatch(facts.state, facts.slices)) is not None:
        yield foreign_properties_finding(mismatch)


def foreign_properties_finding(mismatch: str) -> Finding:
    """The finding for what `properties_mismatch` has found."""
    return catalogue.FOREIGN_PROPERTIES.finding(
        f"{PROPERTIES} is not that of the table's files: do not change the entry in the registry to its keys. A load would "
        "write rows with other keys",
        FOREIGN_FIX,
        found=mismatch,
    )


def instants(facts: Facts) -> Iterator[Finding]:
    """Torn and empty ones, completed and planned."""
    for unreadable in facts.unreadable:
        bears_logs = not facts.state.layout.logs_tell_writer
        yield (
            _completed(facts, unreadable)
            if unreadable.instant.is_completed
            else _planned(unreadable, bears_logs=bears_logs)
        )


def times(facts: Facts) -> Iterator[Finding]:
    """Names that are not a moment, such as that of an hour 24: services that compute an age or a new instant fail."""
    for instant in facts.nowhen:
        yield catalogue.BAD_TIME.finding(
            f"{instant.action} {instant.time} is named for a moment that does not exist",
            "find the writer of the file, and move it out of the timeline: Hudi's writers do not use such names",
            path=facts.state.layout.path(instant),
            instant=instant.time,
        )


def future(facts: Facts) -> Iterator[Finding]:
    """Instants of a clock that was wrong: cleaning by hours, ages and `as_of` compare them with now."""
    future_instants = Future.of(facts.state.timeline, facts.now, facts.state.zone)
    if future_instants is not None:
        redated = future_instants.can_be_redated
        check = catalogue.FUTURE_SERVICE_INSTANT if redated else catalogue.FUTURE_INSTANT
        yield check.finding(
            future_instants.title,
            future_instants.fix,
            found=future_instants.detail,
            path=facts.state.layout.path(future_instants.first),
            instant=future_instants.first.time,
        )


def schemas(facts: Facts) -> Iterator[Finding]:
    """Files of the history that readers of other releases take for committed, once an archival has passed their instant."""
    state = facts.state
    for time, file in stray_history(facts.storage, state.timeline, state.archive):
        yield catalogue.STRAY_SCHEMA.finding(
            f"the schemas of instant {time}, which was rolled back, are still there",
            "move the file out of the table: older releases and later archivals could bring its columns into force",
            path=file.path,
            instant=time,
            bytes=file.size,
        )


def schema_history(facts: Facts) -> Iterator[Finding]:
    """A history that lacks the schema of a commit: a renamed column would be null in older rows."""
    state, schemas = facts.state, facts.state.recorded_schemas
    commit = next((i for i in reversed(state.timeline.commits) if _lacks(facts, schemas, i)), None)
    if commit is None:
        return
    certain = recovered_history(state, facts.files) is not None
    check = catalogue.SCHEMA_HISTORY if certain else catalogue.LOST_SCHEMAS
    remedy = "run `hudi-services doctor --fix`, which makes the history again from the commits, which have all of it"
    copy = f"restore the files of {FOLDER} from a copy of the table: commits of some data files, or their columns, are not known"
    yield check.finding(
        "the history of the table's schemas is lost: older rows would lose what was renamed, so reads and writes are refused",
        remedy if certain else copy,
        found=f"no file in {FOLDER} has the columns of {commit.action} {commit.time}",
        path=FOLDER,
        instant=commit.time,
    )


def _lacks(facts: Facts, schemas: tuple[InternalSchema, ...], commit: Instant) -> bool:
    body = facts.commits.get(commit.time)
    return body is not None and lacks(schemas, body)


def _completed(facts: Facts, unreadable: Unreadable) -> Finding:
    instant = unreadable.instant
    result = str(unreadable.error.found or unreadable.error.what) if unreadable.error is not None else "0 bytes"
    if instant.action.completed_as in _REDONE:
        return catalogue.TORN_SERVICE_INSTANT.finding(
            f"what {instant.action} {instant.time} did cannot be read",
            "run `hudi-services doctor --fix`: the file is moved aside, and the work is done again if its plan is left",
            found=result,
            path=unreadable.path,
            instant=instant.time,
            bytes=unreadable.size,
        )
    check = catalogue.EMPTY_INSTANT if unreadable.error is None else catalogue.TORN_INSTANT
    return check.finding(
        f"the completed {instant.action} {instant.time} cannot be read",
        f"restore the file from a copy. {without_copy(facts, unreadable)}",
        found=result,
        path=unreadable.path,
        instant=instant.time,
        bytes=unreadable.size,
    )


def _planned(unreadable: Unreadable, *, bears_logs: bool) -> Finding:
    """With `bears_logs`, in version 6, logs written since carry the instant of the plan: no reader reads them without it."""
    instant = unreadable.instant
    if instant.action in _PLANNED_ANEW:
        remedy = "run `hudi-services doctor --fix`: the plan is moved aside, and made again if it is still needed"
    elif instant.action in (Action.COMPACTION, Action.LOG_COMPACTION) and not bears_logs:
        remedy = (
            f"restore the file from a copy, or remove the plan: {unschedule_fix(instant.time)}; the next run plans "
            "another compaction"
        )
    elif instant.action is Action.CLUSTERING or (
        instant.action is Action.REPLACE_COMMIT and instant.state is State.REQUESTED
    ):
        remedy = (
            "restore the file from a copy, or remove the plan: "
            f"`hudi-services cluster --give-up {instant.time}`; the next run plans another clustering"
        )
    else:
        remedy = "restore the file from a copy, or finish it with Hudi, which planned it"
    return (catalogue.TORN_PLAN if instant.action in _PLANNED_ANEW else catalogue.TORN_WAITING_PLAN).finding(
        f"the plan of {instant.action} {instant.time} cannot be read",
        remedy,
        found=str(unreadable.error.found or unreadable.error.what) if unreadable.error is not None else None,
        path=unreadable.path,
        instant=instant.time,
        bytes=unreadable.size,
    )


def timeline_length(facts: Facts) -> Iterator[Finding]:
    """Every operation lists all of it."""
    length = len(facts.state.timeline)
    if length > _LONG:
        yield catalogue.TIMELINE_LENGTH.finding(
            "the active timeline is long: each operation lists all of it",
            "run `hudi-services archive`",
            found=counted(length, "instant"),
        )
