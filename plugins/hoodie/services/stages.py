"""Stages of a decision, as values. `stage_text` and `stage_json` derive what people and programs read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hoodie.model.time import Time

if TYPE_CHECKING:  # readers of decisions need neither a catalog nor a trash
    from hoodie.sync.model import Action
    from hoodie.transaction.trash import TrashFolder


@dataclass(frozen=True)
class Item:
    """A file or file group of a plan: where, size in bytes, why; `facts` are more of it, for programs. `parts` are what it
    consists of, where the path does not say so."""

    path: str
    bytes: int
    reason: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[str] = ()


def _itself(item: Item) -> Item:
    return item


@dataclass(frozen=True)
class Items:
    """Items that a plan touches, in order. `verb` is the action on them, `noun` the name of one; `bytes` is their sum. `how` has
    more of the plan, such as the columns that rows are sorted by.

    `planned` are what the plan holds, and `item` describes one of them when it is printed: a plan of millions is not written out
    a second time for those who only carry it out.
    """

    verb: str
    planned: Sequence[Any]
    bytes: int
    noun: str = "file"
    item: Callable[[Any], Item] = _itself
    how: str = ""

    def __len__(self) -> int:
        return len(self.planned)

    def __iter__(self) -> Iterator[Item]:
        return map(self.item, self.planned)


class Stage(Protocol):
    """A part of a decision, as a frozen dataclass. `stage_text` says in which words people read it, and `stage_json` which fields
    programs get. A service's own kind needs neither: each field is a line, and a field of the JSON."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True)
class Facts:
    """More fields for programs."""

    values: Mapping[str, Any]


@dataclass(frozen=True)
class Notes:
    """More lines for people."""

    lines: Sequence[str]


@dataclass(frozen=True)
class CleanScope:
    """The partitions that a clean has listed, the data files in them, and from where on history is kept."""

    partitions_listed: int = 0
    files_seen: int = 0
    bytes_seen: int = 0
    policy: str | None = None
    earliest_to_retain: Time | None = None


@dataclass(frozen=True)
class OverdueTrash:
    """Files that earlier cleans have set aside, and whose time is over."""

    folders: tuple[TrashFolder, ...]


@dataclass(frozen=True)
class Freed:
    """The bytes that a clean frees: at once, or at the moment `freed_from` until which it sets its files aside."""

    bytes_freed: int
    freed_from: datetime | None = None


@dataclass(frozen=True)
class Rewrite:
    """The bytes that a plan reads, and about those that it writes."""

    bytes_read: int
    bytes_written: int


@dataclass(frozen=True)
class PendingPlan:
    """A plan that waits on the timeline."""

    instant: Time
    action: str
    file_groups: int


@dataclass(frozen=True)
class PendingPlans:
    """The plans of the service that wait already."""

    pending_plans: tuple[PendingPlan, ...]


@dataclass(frozen=True)
class Backlog:
    """Backlog of compaction: slices with logs that no plan has taken yet, and the pending plans, where they are known by name."""

    file_groups: int
    log_files: int
    log_bytes: int
    oldest_log: Time | None  # instant of the oldest delta commit since the last compaction
    pending_plans: int
    plans: tuple[PendingPlan, ...] | None = None


@dataclass(frozen=True)
class Regrouping:
    """File groups that a clustering takes, the files that they become, and the small file groups that are left."""

    file_groups: int
    new_files: int
    left: int
    sorted_by: Mapping[str, str]


@dataclass(frozen=True)
class FilterRead:
    """The share of the planned bytes (0 to 1) that a filter for one value of `column` reads, now and then."""

    column: str
    before: float
    after: float


@dataclass(frozen=True)
class DataSkipping:
    """The reads of filters before and after a clustering."""

    filters: tuple[FilterRead, ...]


@dataclass(frozen=True)
class ExpiredPlans:
    """Plans that wait for too long, and go when the next one is scheduled."""

    instants: tuple[Time, ...]


@dataclass(frozen=True)
class ArchiveScope:
    """The completed commits on the timeline, and the first instant that holds archival back."""

    commits_on_timeline: int
    held_back_by: str | None


@dataclass(frozen=True)
class TtlScope:
    """Partitions that were looked at, those whose time is over, and the data files in these."""

    partitions: int
    expired: int
    files: int


@dataclass(frozen=True)
class KeptPartitions:
    """Partitions that a TTL keeps: without a creation time, and beyond the number that one run drops by the key `option`.
    `absent` were asked for, and are not there."""

    undated: tuple[str, ...]
    absent: tuple[str, ...]
    later: int
    option: str


@dataclass(frozen=True)
class RollbackScope:
    """The instant that is rolled back, and the number of its files without a marker, and of its markers without a file."""

    instant: Time
    action: str
    state: str
    found_without_marker: int
    noted_and_not_there: int


@dataclass(frozen=True)
class KeptByRollback:
    """The parts of an instant that stay when it is rolled back: its plan, and logs with blocks of other instants."""

    instant: Time
    plan_stays: bool
    shared_logs: tuple[str, ...]


@dataclass(frozen=True)
class RestoreScope:
    """A savepoint, and the number of completed commits and pending instants after it."""

    savepoint: Time
    commits: int = 0
    pending: int = 0


@dataclass(frozen=True)
class Loss:
    """Rows of instants that are taken back, by what these did with them, and the files that are deleted."""

    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    files_deleted: int


@dataclass(frozen=True)
class SetAside:
    """Files that a clean has set aside, their bytes and partitions. `until` is a moment as ISO text."""

    clean: Time
    until: str
    files: int
    bytes: int
    partitions: int


@dataclass(frozen=True)
class Trash:
    """Files that cleans have set aside."""

    cleans: tuple[SetAside, ...]


@dataclass(frozen=True)
class StaysAside:
    """Paths of files that cannot be put back, each with the reason."""

    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CatalogChanges:
    """Changes of a catalog, in order. `instant` is the last commit that it then knows, `extractor` the class that reads partition
    values."""

    instant: str | None
    extractor: str | None
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class PurgeScope:
    """The rows that a purge deletes. `predicate` is the digest of their condition, and `keys` counts their keys in all files.
    `rewritten` counts file groups, `metadata_files` the files of Hudi's metadata table that go with it."""

    predicate: str
    rows: int
    keys: int
    rewritten: int
    metadata_files: int
    ends_time_travel: bool


@dataclass(frozen=True)
class HeldFile:
    """A file that stays for now: who holds it, until when, and what ends that."""

    path: str
    bytes: int
    by: str
    fix: str


@dataclass(frozen=True)
class LeftFile:
    """A file that no step of a purge rewrites, and in words what it holds of the rows."""

    path: str
    contents: str


@dataclass(frozen=True)
class KeptByPurge:
    """The files that still hold something of the rows after a purge. `bootstrap_source` is a folder that is not searched, and
    `unsearched_values` counts the values that the bytes of files are not searched for."""

    held: tuple[HeldFile, ...]
    left: tuple[LeftFile, ...]
    bootstrap_source: str | None
    unsearched_values: int


@dataclass(frozen=True)
class QuarantinedRows:
    """Bad rows in a quarantine folder, which a purge removes."""

    quarantined: int
    quarantine: str


@dataclass(frozen=True)
class PlanRemoval:
    """The removal of a plan from the timeline."""

    instant: Time
    action: str


@dataclass(frozen=True)
class Repairs:
    """The findings that a repair leaves to a person, and the files to restore first: the metadata table, which may know of them,
    is switched off with it."""

    left: int
    metadata_table_off: bool = False
    missing_files: int = 0


@dataclass(frozen=True)
class BootstrapScope:
    """A source of plain files, what prevents its bootstrap, and what a mode would read and write of all files, in bytes."""

    source: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    rows: int
    partitions: int
    layout: str
    partition_columns_inside: tuple[str, ...]
    partition_columns_outside: tuple[str, ...]
    schema: Mapping[str, str]
    bytes_read: Mapping[str, int]
    bytes_written: Mapping[str, int]


@dataclass(frozen=True)
class Load:
    """The table of an ingestion, the steps that shape its rows, and the services after its commit."""

    table: str
    creates_table: bool
    shape: tuple[str, ...]
    services_after: tuple[str, ...]


@dataclass(frozen=True)
class LoadChecks:
    """The checks of a load before it writes anything, those that fail already, and other warnings, each in words."""

    checks: tuple[str, ...]
    failed_checks: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class FilesLeftOut:
    """Files of a source that a load leaves out, each with the reason. Some of them changed after they were loaded."""

    changed_after_load: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
