"""Partitions that have outlived their time: pure, but for the times in metafiles of partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from hoodie.clock import Clock
from hoodie.config.key import Options, resolve
from hoodie.config.keys import ttl as keys
from hoodie.config.options import RawOptions
from hoodie.config.partitions import check_uncut
from hoodie.display import counted
from hoodie.model.files import FileSlice, GroupId, LogFile
from hoodie.services.blockers import Hold, blockers_of
from hoodie.services.decision import Decision
from hoodie.services.guard import Caps, weighed
from hoodie.services.stages import Item, Items, KeptPartitions, TtlScope
from hoodie.timeline import Instant, parse_time
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.view import TableState, TableView
from hoodie.view.missing_files import retried_when_missing
from hoodie.write.nesting import made_by

_READERS = 16  # metafiles are waited for, not worked on
_NO_DATE = "0000"  # how the fixed instants of a bootstrap begin


@dataclass(frozen=True)
class Expired:
    """A partition whose time is over: the time from which its days count, its data files, their bytes, and a mark of their
    names, as new files may have as many bytes as the old ones."""

    partition: str
    since: datetime
    files: int
    bytes: int
    mark: str


@dataclass(frozen=True)
class TtlPlan:
    """Partitions to drop, the oldest first, and the rule."""

    expired: tuple[Expired, ...]
    rule: str

    @property
    def partitions(self) -> list[str]:
        """Their paths."""
        return [partition.partition for partition in self.expired]


@retried_when_missing
def decide_ttl(state: TableState, raw_options: RawOptions, clock: Clock) -> Decision[TtlPlan]:
    """Decide which partitions to drop now, with the options of `hoodie.config.keys.ttl`. Changes nothing.

    Those for which a compaction or clustering waits are left for a later run. Raises ConfigError, MissingFileError (see
    `TableView.check`): without its newest file a partition would look older than it is.
    """
    options = resolve(raw_options, keys.TTL_KEYS)
    days = options[keys.DAYS_RETAINED]
    if days <= 0:
        return _nothing(f"{keys.DAYS_RETAINED.name} is not set: partitions are kept for ever")
    if not state.properties.partition_fields:
        return _nothing("the table has no partitions")
    view = TableView(state)
    of_partition: dict[str, list[FileSlice]] = {}
    for file_slice in view.latest():
        of_partition.setdefault(file_slice.partition, []).append(file_slice)
    selected = options.get(keys.SELECTED)
    check_uncut(selected or (), of_partition)
    chosen = sorted(name for name in of_partition if selected is None or name in selected)
    created = options[keys.STRATEGY] == keys.KEEP_BY_CREATION_TIME
    since = _creations(state, chosen) if created else {name: _last_write(state, of_partition[name]) for name in chosen}
    end = clock.now() - timedelta(days=days)
    old = sorted(((moment, name) for name, moment in since.items() if moment is not None and moment < end))
    planned_reads = _planned_reads(view)
    over = [
        Expired(name, moment, *_weight(of_partition[name]), _mark(of_partition[name]))
        for moment, name in old
        if name not in planned_reads
    ]
    expired = tuple(over[: options[keys.MAX_PARTITIONS]])
    rule = f"{counted(days, 'day')} since {'they were made' if created else 'the last write'}"
    holds = [
        Hold(planned_reads[name], f"partition {name!r}", "which is to read it")
        for _, name in old
        if name in planned_reads
    ]
    kept_partitions = KeptPartitions(
        tuple(name for name, at in since.items() if at is None),
        tuple(name for name in selected or () if name not in of_partition),
        len(over) - len(expired),
        keys.MAX_PARTITIONS.name,
    )
    return _decision(state, options, clock, TtlPlan(expired, rule), len(chosen), view, holds, kept_partitions)


def _decision(
    state: TableState,
    options: Options,
    clock: Clock,
    plan: TtlPlan,
    looked_at: int,
    view: TableView,
    holds: Sequence[Hold],
    kept_partitions: KeptPartitions,
) -> Decision[TtlPlan]:
    result = f"{counted(len(plan.expired), 'partition')} of {looked_at:,} outlived {plan.rule}"
    files, size = sum(partition.files for partition in plan.expired), sum(partition.bytes for partition in plan.expired)
    table_bytes = sum(file_slice.size for file_slice in view.slices)
    return Decision(
        plan if plan.expired else None,
        result,
        stages=(
            TtlScope(looked_at, len(plan.expired), files),
            Items("drop", plan.expired, size, "partition", _item),
            kept_partitions,
        ),
        deletion=weighed(files, size, table_bytes, Caps.of(options), lambda: table_bytes),
        blockers=blockers_of(holds, state, clock, ConcurrencyOptions.of(options), Locking.of(options)),
    )


def _nothing(reason: str) -> Decision[TtlPlan]:
    return Decision(None, reason, stages=(Items("drop", (), 0, "partition"),))


def _item(expired: Expired) -> Item:
    since = f"{expired.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    facts = {"since": since, "files": expired.files}
    return Item(expired.partition, expired.bytes, f"since {since}", facts, (expired.mark,))


def _weight(slices: Sequence[FileSlice]) -> tuple[int, int]:
    return sum(len(file_slice.files) for file_slice in slices), sum(file_slice.size for file_slice in slices)


def _mark(slices: Sequence[FileSlice]) -> str:
    return sha256("\0".join(sorted(path for file_slice in slices for path in file_slice.paths)).encode()).hexdigest()


def _planned_reads(view: TableView) -> dict[str, Instant]:
    """Partitions with file groups, not yet replaced, that a pending plan names."""
    current: set[GroupId] = {file_slice.group for file_slice in view.slices}
    return {group.partition: instant for group, instant in view.busy.holders.items() if group in current}


def _last_write(state: TableState, slices: Sequence[FileSlice]) -> datetime:
    return max(moment for file_slice in slices for moment in _moments(state, file_slice))


def _moments(state: TableState, file_slice: FileSlice) -> Iterator[datetime]:
    """The time at which each file was written: by its instant, otherwise by the storage's clock. The instants of a bootstrap
    are not dates, and logs of table version 6 are named after their slice."""
    for file in file_slice.files:
        log = isinstance(file, LogFile)
        time = file.time if isinstance(file, LogFile) else file.instant
        if time.startswith(_NO_DATE) or (log and not state.layout.logs_tell_writer):
            yield datetime.fromtimestamp(file.info.modified_ms / 1000, UTC)
        else:
            yield parse_time(time, state.zone)


def _creations(state: TableState, partitions: Sequence[str]) -> dict[str, datetime | None]:
    """When partitions were made, as their metafiles say; None where none says."""
    with ThreadPoolExecutor(_READERS) as pool:
        makers = pool.map(lambda partition: made_by(state.storage, partition), partitions)
        return {name: _creation(state, time) for name, time in zip(partitions, makers, strict=True)}


def _creation(state: TableState, time: str | None) -> datetime | None:
    if time is None or not time.isascii() or not time.isdigit() or time.startswith(_NO_DATE):
        return None
    try:
        return parse_time(time, state.zone)
    except ValueError:  # NoInstantError, of a metafile that nothing else needs
        return None
