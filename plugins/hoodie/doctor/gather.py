"""Looks at a table: one listing a folder, one read of each body of the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from hoodie.clock import Clock
from hoodie.config import own_options, select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.config.keys.write import SMALL_FILE_LIMIT
from hoodie.config.properties.store import BACKUP, PROPERTIES, load_properties, properties_flaw
from hoodie.doctor.facts import Facts, PropertiesFiles, Unreadable
from hoodie.errors import CorruptTableError, HoodieError, MissingFileError, NoInstantError
from hoodie.index.complex_keys import bare_key
from hoodie.model.commit import CommitMetadata
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import Time
from hoodie.services.archive.service import ARCHIVE
from hoodie.services.blockers import Blocker, Hold, blockers_of
from hoodie.services.clean.service import CLEAN
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.decision import Decision
from hoodie.services.service import Decides
from hoodie.storage import ListingCache, join
from hoodie.timeline import WRITE_ACTIONS, Action, Gaps, Instant, Timeline, layout_of, parse_time
from hoodie.timeline.codecs.clean import decode_clean_plan, decode_clean_result
from hoodie.timeline.codecs.restore import decode_restore_plan, restored_rollbacks
from hoodie.timeline.codecs.rollback import decode_rollback_plan, decode_rollback_result
from hoodie.timeline.codecs.savepoint import decode_savepoint
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.guard import relative_path
from hoodie.transaction.heartbeat import Heartbeats
from hoodie.transaction.leftovers import marked_instants
from hoodie.transaction.locks import FoundLock, found_locks
from hoodie.view import TableState
from hoodie.view.files import PartitionFiles, parse_partition
from hoodie.view.metadata_table import FILES, MetadataListing, read_metadata_table
from hoodie.view.pending_groups import PendingGroups, compaction_plan

_AT_ONCE = 16  # listings and reads wait for the store, not for this machine
_PAUSE_S = 0.5
_INDEX = "hoodie.index.type"
_GLOBAL = frozenset({"GLOBAL_BLOOM", "GLOBAL_SIMPLE", "GLOBAL_RECORD_LEVEL_INDEX", "RECORD_INDEX"})
A = TypeVar("A")
B = TypeVar("B")


def gather(storage: ListingCache, clock: Clock, options: Mapping[str, Mapping[str, object]]) -> Facts:
    """All of it. Changes nothing. `options` are those of services by their names.

    Data folders and markers are listed before the timeline, so that it has the instants of all of them. Raises
    TableNotFoundError, CorruptTableError or UnsupportedTableError for a table that cannot be opened at all.
    """
    properties = load_properties(storage, clock)
    properties.check_readable()
    flaws = _properties(storage, clock)
    files = [
        folder for folder in _data_folders(storage) if folder.has_metafile or folder.base_files or folder.log_files
    ]
    marked = marked_instants(storage)
    sharing = _sharing(options)
    beats = Heartbeats.of(storage, clock, sharing.expiry_ms)
    layout = layout_of(properties)
    instants = [i for file in storage.list(layout.folder).files if (i := layout.parse(file)) is not None]
    empty = [i for i in instants if i.is_completed and i.stamp[0] == 0]
    timeline = Timeline.of((i for i in instants if i not in empty), Gaps(storage, layout))
    state = TableState(storage, properties, layout, timeline)
    unreadable = [Unreadable(instant, layout.path(instant), None) for instant in empty]
    commits: dict[Time, CommitMetadata] = {}
    saved: list[Savepoint] = []
    for instant, body in _parallel(lambda i: _body(state, i), [i for i in state.timeline if i.is_completed]):
        match body:
            case HoodieError():
                unreadable.append(Unreadable(instant, layout.path(instant), body, instant.stamp[0]))
            case CommitMetadata():
                commits[instant.time] = body
            case Savepoint():
                saved.append(body)
    plans: dict[Instant, Sequence[str]] = {}
    for instant, plan in _parallel(lambda i: _plan(state, i), state.timeline.pending):
        if isinstance(plan, HoodieError):
            unreadable.append(Unreadable(instant, layout.requested_path(instant.time, instant.action), plan))
        elif plan is not None:
            plans[instant] = plan
    nowhen = _nowhen(state)
    return Facts(
        storage,
        state,
        clock.now(),
        flaws,
        nowhen,
        files,
        commits,
        unreadable,
        plans,
        saved,
        _owners(state, clock, sharing, {*nowhen, *_of_unreadable(state, unreadable)}),
        marked,
        beats,
        _locks(storage, clock),
        _metadata_table(state, clock),
        _global_index(options),
        _decisions(state, options, clock),
        small_file_limit(options),
        _bare_key(state),
    )


def _properties(storage: ListingCache, clock: Clock) -> PropertiesFiles:
    """A writer that is changing them has a backup for a moment: then they are looked at once more."""
    for pause in (_PAUSE_S, None):
        main, backup = properties_flaw(storage, PROPERTIES), properties_flaw(storage, BACKUP)
        if pause is None or (main == "" and backup is None):
            break
        clock.sleep(pause)
    return PropertiesFiles("it is missing" if main is None else main or None, backup)


def _data_folders(storage: ListingCache) -> Iterator[PartitionFiles]:
    """Every folder of the table, level by level. Not those of tables inside it, nor what lies below an unpartitioned table."""
    level: Sequence[str] = [""]
    while level:
        below: list[str] = []
        for folder, listing in _parallel(storage.list, level):
            if folder and f"{folder}/.hoodie" in listing.folders:
                continue
            group = parse_partition(folder, listing.files)
            yield group
            if folder or not group.has_metafile:
                below.extend(sub for sub in listing.folders if sub != ".hoodie")
        level = below


def _body(state: TableState, instant: Instant) -> CommitMetadata | Savepoint | HoodieError | None:
    """Contents of a completed instant; None if no check needs them."""
    where = state.where(instant)
    try:
        match instant.action.completed_as:
            case action if action in WRITE_ACTIONS:
                return state.commit_metadata(instant)
            case Action.SAVEPOINT:
                return decode_savepoint(state.body(instant), where, instant.time)
            case Action.CLEAN:
                decode_clean_result(state.body(instant), where)
            case Action.ROLLBACK:
                decode_rollback_result(state.body(instant), where)
            case Action.RESTORE:
                restored_rollbacks(state.body(instant), where)
    except (FileNotFoundError, MissingFileError):  # archived, or rolled back, since the listing
        return None
    except HoodieError as error:
        return error
    return None


def _plan(state: TableState, instant: Instant) -> Sequence[str] | HoodieError | None:
    """The files that a pending plan is to read; None for a plan that reads none, and for what has none."""
    path = state.layout.requested_path(instant.time, instant.action)
    try:
        match instant.action:
            case Action.COMPACTION | Action.LOG_COMPACTION:
                operations = compaction_plan(state, instant).operations
                named = [(operation.partition, (operation.base_file, *operation.log_files)) for operation in operations]
                return [join(partition, name) for partition, names in named for name in names if name]
            case Action.CLEAN:
                decode_clean_plan(state.storage.read(path), path, _relative(state))
            case Action.ROLLBACK:
                decode_rollback_plan(state.storage.read(path), path, _relative(state))
            case Action.RESTORE:
                decode_restore_plan(state.storage.read(path), path)
            case Action.CLUSTERING | Action.REPLACE_COMMIT:
                _ = PendingGroups(state).clustering
    except FileNotFoundError as error:
        title = "its plan is not there" if instant.action not in WRITE_ACTIONS else None
        return CorruptTableError(title, found=str(error)) if title else None
    except HoodieError as error:
        return error
    return None


def _sharing(options: Mapping[str, Mapping[str, object]]) -> ConcurrencyOptions:
    """The options by which writers show that they are alive."""
    merged = {name: value for option in options.values() for name, value in option.items()}
    return ConcurrencyOptions.of(resolve(select_keys(merged, SHARING_KEYS), SHARING_KEYS))


def _bare_key(state: TableState) -> str | None:
    """A key that no upsert would find again. Torn instants and files have findings of their own."""
    try:
        return bare_key(state)
    except HoodieError:
        return None


def _global_index(options: Mapping[str, Mapping[str, object]]) -> bool:
    return any(str(option.get(_INDEX, "")).strip().upper() in _GLOBAL for option in options.values())


def small_file_limit(options: Mapping[str, Mapping[str, object]]) -> int:
    """The limit of the writers. One that fills no small files has the default here: its files are small all the same."""
    merged = {name: value for option in options.values() for name, value in option.items()}
    limit: int = resolve(select_keys(merged, [SMALL_FILE_LIMIT]), [SMALL_FILE_LIMIT])[SMALL_FILE_LIMIT]
    return limit or SMALL_FILE_LIMIT.default or 1


def _decisions(
    state: TableState, options: Mapping[str, Mapping[str, object]], clock: Clock
) -> Mapping[str, Decision[Any] | HoodieError]:
    """Current plans of the services."""
    result: dict[str, Decision[Any] | HoodieError] = {}
    services: tuple[Decides[Any], ...] = (CLEAN, *((COMPACTION,) if state.properties.is_merge_on_read else ()), ARCHIVE)
    for service in services:
        try:
            own = own_options(options.get(service.name, {}), service.options)
            result[service.name] = service.decide(state, own, clock)
        except HoodieError as error:
            result[service.name] = error
    return result


def _relative(state: TableState) -> Callable[[str], str]:
    return lambda path: relative_path(state.storage.base_path, path)


def _of_unreadable(state: TableState, unreadable: Sequence[Unreadable]) -> set[Instant]:
    """The instants that cannot be read, also as the pending ones that they are without their last file."""
    keys = {file.instant.key for file in unreadable}
    return {instant for instant in state.timeline if instant.key in keys}


def _owners(
    state: TableState, clock: Clock, sharing: ConcurrencyOptions, left_out: set[Instant]
) -> dict[Instant, Blocker] | HoodieError:
    """Blockers for each pending instant that no other check reports."""
    pending = [i for i in state.timeline.pending if i not in left_out]
    try:
        return dict(zip(pending, blockers_of((Hold(i, "", "") for i in pending), state, clock, sharing), strict=True))
    except HoodieError as error:
        return error


def _metadata_table(state: TableState, clock: Clock) -> MetadataListing | HoodieError | None:
    """The listing of the metadata table, if readers use it."""
    if FILES not in state.properties.metadata_partitions:
        return None
    try:
        return read_metadata_table(state.storage, clock, {i.time for i in state.timeline.pending})
    except HoodieError as error:
        return error
    except FileNotFoundError as error:
        return CorruptTableError("A file of the metadata table is gone", found=str(error))


def _nowhen(state: TableState) -> list[Instant]:
    """Those that are named for a moment that does not exist."""
    return [instant for instant in state.timeline if not _is_moment(instant, state)]


def _is_moment(instant: Instant, state: TableState) -> bool:
    try:
        parse_time(instant.time, state.zone)
    except NoInstantError:
        return False
    return True


def _locks(storage: ListingCache, clock: Clock) -> Sequence[FoundLock]:
    try:
        return found_locks(storage, clock)
    except CorruptTableError:  # the process that takes the lock gets the error
        return ()


def _parallel(function: Callable[[A], B], items: Sequence[A]) -> list[tuple[A, B]]:
    if len(items) <= 1:
        return [(item, function(item)) for item in items]
    with ThreadPoolExecutor(min(_AT_ONCE, len(items))) as pool:
        return list(zip(items, pool.map(function, items), strict=True))
