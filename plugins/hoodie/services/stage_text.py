"""Decisions for people: the sentences of causes, limits and stages, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from itertools import islice
from typing import assert_never

from hoodie.display import counted
from hoodie.services.measures import Cause, Measure, Reason, TimelineLength, Trigger, causes_of
from hoodie.services.stages import (
    ArchiveScope,
    Backlog,
    BootstrapScope,
    CatalogChanges,
    CleanScope,
    DataSkipping,
    ExpiredPlans,
    Facts,
    FilesLeftOut,
    Freed,
    Items,
    KeptByPurge,
    KeptByRollback,
    KeptPartitions,
    Load,
    LoadChecks,
    Loss,
    Notes,
    OverdueTrash,
    PendingPlans,
    PlanRemoval,
    PurgeScope,
    QuarantinedRows,
    Regrouping,
    Repairs,
    Rewrite,
    Stage,
    StaysAside,
    Trash,
    TtlScope,
)
from hoodie.services.upgrade_stages import HeldBack, PropertyChanges, UpgradeScope

MOST_ITEMS = 200  # lines of items: a plan of millions must not flood a terminal; JSON has all
_FEW = 20  # files that stay aside


def reason_text(reason: Reason) -> str:
    """The causes in one line."""
    return "; ".join(map(_cause, causes_of(reason)))


def cap_texts(over: Iterable[Measure], of_bytes: int) -> Iterator[str]:
    """A line a cap that a plan is past; `of_bytes` are the bytes of the table's data files."""
    for cap in over:
        if cap.unit == "share":
            share = f"{cap.value:.1%} of the table's {of_bytes:,} bytes"
            yield f"{share}, where {cap.option} is {cap.limit:.1%}"
        else:
            yield f"{counted(int(cap.value), cap.unit)}, where {cap.option} is {cap.limit:,}"


def _cause(cause: Cause) -> str:
    match cause:
        case str():
            return cause
        case Trigger(measures, last, rule):
            values = " and ".join(_of_limit(measure, named=not rule) for measure in measures)
            return f"{values} since the last {last}{f' ({rule})' if rule else ''}"
        case TimelineLength(commits, rule):
            return f"{_value(commits)} on the timeline, and {_stays(int(commits.limit), rule)}"
        case _:
            assert_never(cause)


def _stays(limit: int, rule: str) -> str:
    match rule:
        case "archived from":
            return f"it is archived from {limit} on"
        case "stay":
            return f"the last {limit} stay"
        case _:
            return f"{limit} {'is' if limit == 1 else 'are'} retained"


def _of_limit(measure: Measure, *, named: bool) -> str:
    return f"{_value(measure)} (of {measure.limit:,}{f', {measure.option}' if named else ''})"


def _value(measure: Measure) -> str:
    return f"{measure.value:,} s" if measure.unit == "s" else counted(int(measure.value), measure.unit)


def stage_lines(stage: Stage) -> Iterator[str]:
    """The lines of a stage; none where its numbers are part of the reason. A stage of an unknown kind has a line a field."""
    match stage:
        case Items():
            yield from _items(stage)
        case Notes(lines):
            yield from lines
        case CleanScope(policy=str(policy), earliest_to_retain=str(earliest)):
            yield f"policy {policy}, earliest commit to retain {earliest}"
        case Freed(freed_from=datetime() as moment):
            yield f"their bytes are free from {moment:%Y-%m-%d %H:%M} UTC on"
        case Rewrite(read, written) if written:
            yield f"would read {read:,} bytes and write about {written:,}"
        case OverdueTrash(folders):
            for folder in folders:
                until = f"{folder.until:%Y-%m-%d %H:%M} UTC"
                yield f"would delete for good what clean {folder.clean} set aside until {until}"
        case Backlog():
            yield (
                f"backlog: {stage.log_files} logs of {stage.log_bytes:,} bytes in {stage.file_groups} file groups, "
                f"the oldest of {stage.oldest_log or 'none'}; {stage.pending_plans} plans wait to be executed"
            )
        case Regrouping() if stage.file_groups:
            files = counted(stage.new_files, "file")
            yield f"{counted(stage.file_groups, 'file group')} become about {files}; {stage.left} are left"
        case DataSkipping(filters):
            for column in filters:
                now, then = _share(column.before), _share(column.after)
                yield f"a filter for one value of {column.column} reads {now} of these bytes now, about {then} then"
        case PendingPlans(plans):
            for plan in plans:
                yield f"{plan.action} {plan.instant} of {plan.file_groups} file groups waits"
        case ExpiredPlans(instants):
            for instant in instants:
                yield f"clustering {instant} would be unscheduled, as no run carries it out"
        case KeptPartitions():
            yield from _kept_partitions(stage)
        case KeptByRollback(instant, plan_stays, logs):
            if plan_stays:
                yield "its plan stays, and is carried out by the next run of its service"
            for path in logs:
                yield f"{path} stays, as it holds blocks of other instants: a command block hides those of {instant}"
        case Loss():
            rows = f"{stage.rows_inserted:,} inserted rows, {stage.rows_updated:,} updates and {stage.rows_deleted:,}"
            yield f"lost would be {rows} deletions, and {counted(stage.files_deleted, 'file')}"
        case Trash(cleans):
            for clean in cleans:
                files = f"{counted(clean.files, 'file')}, {clean.bytes:,} bytes"
                where = f"in {counted(clean.partitions, 'partition')}, until {clean.until}"
                yield f"clean {clean.clean}: {files}, {where}"
        case StaysAside(files):
            yield from (f"stays aside: {path}: {why}" for path, why in islice(files, _FEW))
        case CatalogChanges():
            if stage.extractor is not None:
                yield f"partition values by {stage.extractor}"
            yield from (f"  {action}" for action in stage.actions)
        case Repairs():
            yield from _repairs(stage)
        case UpgradeScope():
            yield from _upgrade(stage)
        case PropertyChanges(changes):
            for change in changes:
                after = f"sets {change.key}={change.after}" if change.after is not None else f"removes {change.key}"
                yield f"{after} (was {change.before if change.before is not None else 'not set'})"
        case HeldBack(obstacles, passed):
            for obstacle in obstacles:
                yield f"{'passed over' if obstacle.kind in passed else 'held back'}: {obstacle}"
        case BootstrapScope():
            yield from _bootstrap(stage)
        case PurgeScope():
            yield from _purge(stage)
        case KeptByPurge():
            yield from _kept_by_purge(stage)
        case QuarantinedRows(rows, folder):
            if rows:
                yield f"removes {counted(rows, 'bad row')} of {folder}"
        case Load():
            yield from _load(stage)
        case LoadChecks(checks, failed, warnings):
            if checks:
                yield f"checks before anything is written: {', '.join(checks)}"
            yield from (f"WARNING: {text}" for text in (*failed, *warnings))
        case FilesLeftOut(left_out=files):
            yield from (f"left out: {path}: {reason}" for path, reason in files[:MOST_ITEMS])
            yield from _more(len(files))
        case CleanScope() | Freed() | Rewrite() | Regrouping() | ArchiveScope() | TtlScope() | Facts() | PlanRemoval():
            pass
        case _:
            yield from _fields(stage)


def work_text(stages: Iterable[Stage]) -> str:
    """The work of the plan in one line; empty if no stage has any."""
    for stage in stages:
        match stage:
            case Items():
                return f"would {stage.verb} {counted(len(stage), stage.noun)}, {stage.bytes:,} bytes"
            case CatalogChanges(actions=actions):
                return f"would make {len(actions)} changes to the catalog"
            case PlanRemoval():
                return "would unschedule it"
    return ""


def _items(items: Items) -> Iterator[str]:
    for item in islice(items, MOST_ITEMS):
        yield f"  {item.bytes:>14,} bytes  {item.path}{f'  {item.reason}' if item.reason is not None else ''}"
    yield from _more(len(items))


def _more(count: int) -> Iterator[str]:
    if count > MOST_ITEMS:
        yield f"  … and {count - MOST_ITEMS} more (--json shows all)"


def _kept_partitions(partitions: KeptPartitions) -> Iterator[str]:
    yield from (f"partition {name!r} has no creation time: it is kept" for name in partitions.undated)
    yield from (f"there is no partition {name!r}" for name in partitions.absent)
    if partitions.later:
        yield f"{partitions.later:,} more wait for later runs ({partitions.option})"


def _repairs(repairs: Repairs) -> Iterator[str]:
    if repairs.left:
        yield f"not repaired: {counted(repairs.left, 'finding')} for a person to judge"
    if repairs.metadata_table_off:
        yield "Hudi's metadata table is switched off, as by every change; Hudi's next write makes it again"
        if repairs.missing_files:
            yield (
                f"first restore {counted(repairs.missing_files, 'missing file')}: without the metadata table, which may name "
                "what is missing, Hudi's readers take older rows for current and say nothing"
            )


def _upgrade(scope: UpgradeScope) -> Iterator[str]:
    if scope.resumes:
        yield "an earlier run was cut short, and this one goes on"
    if scope.archived_instants:
        yield f"{counted(scope.archived_instants, 'archived instant')} would be written to the history of the new version"
    if scope.metadata_table:
        yield "Hudi's metadata table is switched off, as by every change; Hudi's next write makes it again"


def _bootstrap(scope: BootstrapScope) -> Iterator[str]:
    yield from (f"problem: {problem}" for problem in scope.problems)
    yield from (f"note: {note}" for note in scope.notes)
    outside = ", ".join(scope.partition_columns_outside) or "none"
    rows = f"{scope.rows:,} rows in {scope.partitions} partitions, layout {scope.layout}"
    yield f"{rows}; columns from folder names: {outside}"
    for mode, size in scope.bytes_written.items():
        yield f"{mode} of all files would read {scope.bytes_read[mode]:,} bytes and write about {size:,}"


def _purge(scope: PurgeScope) -> Iterator[str]:
    if scope.rows:
        yield f"deletes {counted(scope.rows, 'row')} in one commit"
    if scope.rewritten:
        yield f"rewrites {counted(scope.rewritten, 'file group')}, with new footers"
    if scope.metadata_files:
        yield f"deletes Hudi's metadata table, with values in {counted(scope.metadata_files, 'file')}"
    if scope.ends_time_travel:
        yield "time travel to versions before this run ends for the file groups of these files:"


def _kept_by_purge(kept: KeptByPurge) -> Iterator[str]:
    if kept.bootstrap_source is not None:
        yield f"the source of the bootstrap, {kept.bootstrap_source}, is not searched: erase the rows there, too"
    for file in kept.left:
        yield f"{file.path} stays: it holds {file.contents}, which no step of a purge rewrites"
    if kept.unsearched_values:
        values = counted(kept.unsearched_values, "value")
        yield f"rows are searched for all values, bytes not for {values} (short, or too many)"
    yield from (f"{file.path} stays: {file.by}; {file.fix}" for file in kept.held)


def _load(load: Load) -> Iterator[str]:
    if load.creates_table:
        yield f"would create table {load.table}"
    yield from load.shape
    if load.services_after:
        yield f"after the commit: {', '.join(load.services_after)}"


def _fields(stage: Stage) -> Iterator[str]:
    for field in fields(stage):
        value = getattr(stage, field.name)
        number = isinstance(value, int) and not isinstance(value, bool)
        yield f"{field.name.replace('_', ' ')}: {f'{value:,}' if number else value}"


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 or not share else f"{share:.1%}"
