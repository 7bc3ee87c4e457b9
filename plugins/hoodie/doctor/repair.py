"""Repairs of the findings of a diagnosis: the plan, and its execution. Services repair their own work; other files are moved
aside.

Safe to kill at any point: the next run finds and repairs any half-done work.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hoodie.config import select_keys
from hoodie.config.key import Options, resolve
from hoodie.config.keys.concurrency import COMMON_KEYS
from hoodie.config.properties.store import PROPERTIES
from hoodie.doctor import archive, catalogue
from hoodie.doctor.checks import files, metadata
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Diagnosis, Finding, summary
from hoodie.doctor.future_repair import date_as_of_now
from hoodie.doctor.gather import gather
from hoodie.doctor.schema_recovery import recovered_history, write_history
from hoodie.errors import UnsafeDeleteError
from hoodie.model.names import METADATA_TABLE
from hoodie.model.time import Time
from hoodie.services.clean.execute import finish_cleans
from hoodie.services.decision import Decision
from hoodie.services.stages import Item, Items, Repairs
from hoodie.storage import ListingCache, Storage, walk_files
from hoodie.timeline import Action
from hoodie.timeline.layouts.names import parse_name
from hoodie.transaction.audit import Audited, AuditedFile, audited
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.guard import check_data_files
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.locks import Locking, ensure_held, table_lock
from hoodie.transaction.quarantine import copy_aside, move_aside
from hoodie.transaction.recovery import recovered, recoveries
from hoodie.transaction.transaction import transaction
from hoodie.view.access import TableAccess
from hoodie.view.metadata_table import FILES
from hoodie.write.worker.partition_metafile import write_partition_mark

_MOVED = frozenset({catalogue.ORPHAN.name, catalogue.UNCOMMITTED_FILE.name})
_STALE = frozenset(
    check.name
    for check in (
        catalogue.METADATA_UNREADABLE,
        catalogue.METADATA_GONE,
        catalogue.METADATA_BEHIND,
        catalogue.METADATA_PARTITION,
        catalogue.METADATA_MISSING,
        catalogue.METADATA_EXTRA,
        catalogue.METADATA_SIZE,
    )
)
_REPAIRS = {
    catalogue.PROPERTIES.name: "restored from its backup; the damaged file is kept",
    catalogue.PROPERTIES_BACKUP.name: "removed",
    catalogue.TORN_SERVICE_INSTANT.name: "moved aside, and done once more where its plan is left",
    catalogue.TORN_PLAN.name: "moved aside",
    catalogue.FUTURE_SERVICE_INSTANT.name: "dated as of now; its files are moved aside",
    catalogue.FAILED_WRITE.name: "rolled back: its files are deleted",
    catalogue.HALF_DONE.name: "ended as its plan says",
    catalogue.MARKERS.name: "removed, with the files of lost attempts that they name",
    catalogue.HEARTBEAT.name: "removed",
    catalogue.LEFT_LOCK.name: "taken over, and given back",
    catalogue.SCHEMA_HISTORY.name: "made again from the commits",
    catalogue.PARTITION_METAFILE.name: "written",
    catalogue.ORPHAN.name: "moved aside",
    catalogue.UNCOMMITTED_FILE.name: "moved aside",
    **dict.fromkeys(_STALE, "the metadata table is switched off; what it says of files, and its timeline, are kept"),
}


@dataclass(frozen=True)
class Mending:
    """Findings to repair."""

    findings: tuple[Finding, ...]

    def paths(self, *checks: catalogue.Check) -> frozenset[str]:
        """Paths of the findings of these checks."""
        names = {check.name for check in checks}
        return frozenset(
            finding.path for finding in self.findings if finding.check in names and finding.path is not None
        )


def decide_mending(diagnosis: Diagnosis) -> Decision[Mending]:
    """Plan of `repair`, with its reason."""
    fixed = tuple(finding for finding in diagnosis.findings if catalogue.CHECKS[finding.check].fixed)
    reason = f"{diagnosis.base_path}: {summary(diagnosis.findings)}"
    if diagnosis.of(catalogue.EMPTY_INSTANT.name):
        fixed = ()  # a repair is a change, and none can begin
        reason += ". No change of the table can begin before the empty instant is restored or moved"
    off = bool(fixed and diagnosis.facts.get("metadata_table"))
    missing = len(diagnosis.of(catalogue.MISSING_FILE.name)) if off else 0
    remaining = Repairs(len(diagnosis.findings) - len(fixed), off, missing)
    items = Items("mend", fixed, sum(finding.bytes for finding in fixed), "finding", _item)
    return Decision(Mending(fixed), reason, (items, remaining)) if fixed else Decision(None, reason, (remaining,))


def _item(finding: Finding) -> Item:
    return Item(
        finding.path or "", finding.bytes, f"{finding.check}: {_REPAIRS[finding.check]}", {"check": finding.check}
    )


def mend(access: TableAccess, mending: Mending, options: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Repair the table as it is under its lock; returns the repairs, in the past tense.

    Moves only files that `mending` names and that still have no owner. Raises LockHeldError, PendingInstantError when a writer is
    at work that does not share the table, and any other error that prevents a change of the table.
    """
    resolved = _resolved(options)
    locking, sharing = Locking.of(resolved), ConcurrencyOptions.of(resolved)
    with recoveries() as repairs:
        with table_lock(access.storage, access.clock, "doctor", locking):
            _make_readable(access, mending, options)
        with transaction(access.storage, access.clock, "doctor", locking, sharing) as tx:
            if finish_cleans(tx.state, access.clock, access.engine):
                tx.refresh()
            facts = gather(ListingCache(access.storage), access.clock, options)
            if mending.paths(catalogue.SCHEMA_HISTORY):
                _write_schemas(access.storage, facts)
            _write_metafiles(access.storage, facts, mending.paths(catalogue.PARTITION_METAFILE))
            agreed = mending.paths(catalogue.ORPHAN, catalogue.UNCOMMITTED_FILE)
            result = [
                finding for finding in _to_move(facts, agreed) if finding.check in _MOVED and finding.path in agreed
            ]
            if mending.paths(catalogue.FUTURE_SERVICE_INSTANT):
                date_as_of_now(tx.state, access.clock)
                tx.refresh()
            _move(access, facts, result, new_time(tx.state, access.clock))
    return repairs


def _resolved(options: Mapping[str, Mapping[str, object]]) -> Options:
    merged = {name: value for option in options.values() for name, value in option.items()}
    return resolve(select_keys(merged, COMMON_KEYS), COMMON_KEYS)


def _make_readable(access: TableAccess, mending: Mending, options: Mapping[str, Mapping[str, object]]) -> None:
    """Move aside files that prevent a change from beginning, and still cannot be read under the lock: a writer may just have
    ended it. A plan goes after the instants that it has begun, so that the next run finds it."""
    storage, torn = access.storage, (catalogue.TORN_SERVICE_INSTANT, catalogue.TORN_PLAN)
    still: set[str | None] = set()
    if mending.paths(*torn):
        still = {instant.path for instant in metadata.instants(gather(ListingCache(storage), access.clock, options))}
    if mending.paths(catalogue.PROPERTIES):
        copy_aside(storage, PROPERTIES)
    if any(finding.check in _STALE for finding in mending.findings):
        _keep_metadata_table(storage)
    for path in sorted(mending.paths(catalogue.TORN_SERVICE_INSTANT) & still):
        move_aside(storage, path, "it cannot be read")
    for path in sorted(mending.paths(catalogue.TORN_PLAN) & still):
        folder, _, name = path.rpartition("/")
        parsed = parse_name(name)
        if parsed is not None and parsed[2] is Action.CLEAN:  # the next change of the table handles the other plans
            move_aside(storage, f"{folder}/{name.removesuffix('.requested')}.inflight", "its plan cannot be read")
            move_aside(storage, path, "it cannot be read")


def _keep_metadata_table(storage: Storage) -> None:
    """A copy of what is about to be switched off: the properties, and all but its indexes, which may be as large as the table."""
    copy_aside(storage, PROPERTIES)
    for folder in (".hoodie", FILES):
        for file in walk_files(storage, f"{METADATA_TABLE}/{folder}"):
            copy_aside(storage, file.path)


def _write_metafiles(storage: Storage, facts: Facts, paths: Collection[str]) -> None:
    last = facts.state.timeline.last_commit
    for finding in files.folders(facts):
        if finding.check == catalogue.PARTITION_METAFILE.name and finding.path in paths and finding.path and last:
            write_partition_mark(storage, finding.path.rpartition("/")[0], last.time)
            recovered(f"wrote {finding.path}")


def _write_schemas(storage: Storage, facts: Facts) -> None:
    """The history, where it is still lost."""
    history = recovered_history(facts.state, facts.files) if any(metadata.schema_history(facts)) else None
    if history is not None:
        write_history(storage, facts.state, history)


def _to_move(facts: Facts, agreed: Collection[str]) -> Iterator[Finding]:
    """The files of no commit; those of archived commits only if one was agreed on that is not among the others."""
    result = list(files.orphans(facts))
    yield from result
    if not {finding.path for finding in result}.issuperset(agreed):
        yield from archive.strays(facts)


def _move(access: TableAccess, facts: Facts, findings: Sequence[Finding], time: Time) -> None:
    """Raises UnsafeDeleteError, before anything is moved, for a file that a completed instant names."""
    paths = [finding.path for finding in findings if finding.path is not None]
    check_data_files(access.storage, paths)
    named = {path for commit in facts.commits.values() for stat in commit.stats for path in stat.paths}
    if refused := named.intersection(paths):
        raise UnsafeDeleteError(
            f"Refused to move {min(refused)!r} of table {access.storage.base_path}",
            found="a completed commit names it",
            fix="nothing was moved; report it to the maintainers of this program",
        )
    action = Audited(time, "doctor", "files of no completed and no pending instant, moved aside", ".hoodie/.quarantine")
    with audited(access.storage, access.clock, action, [AuditedFile(e.path or "", e.bytes, e.check) for e in findings]):
        for finding in findings:
            ensure_held()
            move_aside(access.storage, finding.path or "", f"{finding.check} of instant {finding.instant}")
