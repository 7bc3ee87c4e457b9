"""The facts of one table, looked at now. Each source of facts that fails leaves the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa

from hoodie.clock import Clock
from hoodie.config import own_options
from hoodie.doctor.catalogue import FOREIGN_PROPERTIES, UNREADABLE
from hoodie.doctor.checks.metadata import foreign_properties_finding
from hoodie.doctor.key_checks import of_newest_inserts
from hoodie.errors import HoodieError
from hoodie.index.properties_match import properties_mismatch
from hoodie.services.ttl.service import TTL
from hudi_services.entry.source import FolderSource, TopicSource
from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.entry.table_contradictions import entry_contradictions
from hudi_services.entry.target import Target
from hudi_services.operations.advice.estimate import estimate, samples_of
from hudi_services.operations.advice.facts import Damage, LastRun, TableFacts, Work
from hudi_services.operations.advice.findings import damages_of
from hudi_services.operations.advice.idle_load import idle_load
from hudi_services.operations.advice.obstacle import unreadable_by
from hudi_services.operations.advice.overview_facts import overview_facts
from hudi_services.operations.advice.quarantine import bad_rows, looked_text
from hudi_services.operations.advice.schedule import starts_of
from hudi_services.operations.advice.source_files import SourceFiles, patterns_without_files, source_files
from hudi_services.operations.doctor.registry_tables import patient
from hudi_services.operations.doctor.rounds import look as diagnose
from hudi_services.operations.history.queries import ENDED, last_ended
from hudi_services.operations.history.record import ASKS, AT_A_SHELL, FAILED, KILLED
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.quarantine import folder_of
from hudi_services.operations.inspect.service_plans import planned
from hudi_services.operations.inspect.table_look import Look, look_at
from hudi_services.services.entries import ENTRIES, Entries
from hudi_services.sources.ingest.refusal import last_refusal

T = TypeVar("T")
DOCTOR = "the doctor's checks"
_FEW_FILES, _FEW_INSTANTS = 1_000, 500  # file slices, and archived instants, of a small table


@dataclass(frozen=True)
class Request:
    """A table to look at, and its name for people. `registry` is the file, if its commands have to name it; `runs` are those of
    the table in its history, None without one that can be read."""

    chosen: ChosenTable
    registry: str | None = None
    runs: pa.Table | None = None

    @property
    def name(self) -> str:
        entry = self.chosen.entry
        return entry.name if entry is not None else self.chosen.base_path

    @property
    def target(self) -> Target:
        entry = self.chosen.entry
        if entry is None:
            return Target.of(self.chosen.base_path, None)
        return Target.of(self.chosen.base_path, entry.name, self.registry, loads=entry.is_ingested)


def gather(request: Request, clock: Clock, *, doctor: bool, entries: Entries = ENTRIES) -> TableFacts:
    """The facts of a table. One that cannot be read has facts, too.

    Lists each partition once, with `doctor` once more for its checks, and opens no data file whose commit is on the timeline.
    """
    try:
        look = look_at(request.chosen, clock)
        facts = look_facts(look, overview(look).values, request, entries)
        if not doctor:
            return facts
        damages, looked = damages_now(request.chosen), (*facts.looked, DOCTOR)
        foreign = (damage for damage in facts.damages if damage.check == FOREIGN_PROPERTIES.name)
        return with_source(replace(facts, damages=_joined(damages, foreign), looked=looked), look)
    except Exception as error:  # noqa: BLE001 - any error of a storage or of a torn file: other tables go on
        return unread_facts(request, clock.now(), error, entries)


def look_facts(look: Look, table_values: Mapping[str, Any], request: Request, entries: Entries = ENTRIES) -> TableFacts:
    """The facts in the values of `show table`, with its entry in the registry and its history. A storage call for each
    partition only if partitions have a time to live. The folder of the source is listed only if the table is stale."""
    entry = look.entry
    starts = starts_of(entry, look.now, entries) if entry is not None else ()
    facts = overview_facts(
        request.name, request.target, table_values, look.now, starts=starts, registered=entry is not None
    )
    problems = list(facts.problems)
    work = dict(facts.work)
    if entry is not None and entry.section("ttl") is not None:
        expired = _tried(
            lambda: planned(look, TTL.decide(look.state, own_options(look.options("ttl"), TTL.options), look.clock)),
            problems,
        )
        if expired is not None:
            work |= overview_facts(
                request.name, request.target, {**table_values, "next": {"ttl": expired}}, look.now
            ).work
    runs = request.runs
    contradictions = _contradictions(entry, look)
    foreign = _foreign_properties(look) if contradictions else ()
    return replace(
        facts,
        damages=(*facts.damages, *foreign),
        problems=tuple(problems),
        work={name: _timed(service_work, runs) for name, service_work in work.items()},
        runs=tuple(_last_runs(runs)) if runs is not None else _refused_load(entry),
        idle_load=idle_load(entry, facts, runs, entries) if entry is not None else None,
        looked=(*facts.looked, *(("the history of 30 days",) if runs is not None else ())),
        warnings=(*_warnings(entry, entries), *(() if foreign else contradictions)),
    )


def _warnings(entry: Table | None, entries: Entries) -> Iterable[str]:
    """Settings of the entry that are probably not meant."""
    if entry is None:
        return ()
    return (warning for service_entry in entries for warning in service_entry.section.warnings(entry))


def _contradictions(entry: Table | None, look: Look) -> tuple[str, ...]:
    """Keys of the entry that are not those of the table."""
    return tuple(map(str, entry_contradictions(entry, look.state))) if entry is not None else ()


def _foreign_properties(look: Look) -> tuple[Damage, ...]:
    """A damage if the properties, and not the entry, are what is wrong: they do not go with the newest base file."""
    mismatch = _readable(lambda: properties_mismatch(look.state, look.view.slices))
    return damages_of([foreign_properties_finding(mismatch)]) if mismatch is not None else ()


def with_source(facts: TableFacts, look: Look) -> TableFacts:
    """The facts with those of the source of the table's feed: files that are new, or left out, or have changed since their
    load, patterns that match nothing, and the quarantine."""
    entry = look.entry
    if entry is None:
        return facts
    files = _readable(lambda: source_files(entry, look.state, look.now)) or SourceFiles()
    return replace(
        facts,
        bad_rows=_readable(lambda: bad_rows(entry, look)),
        changed_files=files.changed,
        new_files=files.new,
        broken_files=files.broken,
        idle_patterns=_readable(lambda: patterns_without_files(entry)) or (),
        looked=(*facts.looked, "loaded files", looked_text(entry, look)),
    )


def _readable(ask: Callable[[], T]) -> T | None:
    """None if the source or the quarantine cannot be read: the next load meets the same error and says so."""
    try:
        return ask()
    except (HoodieError, OSError):
        return None


def _tried(ask: Callable[[], T], problems: list[str]) -> T | None:
    try:
        return ask()
    except HoodieError as error:
        problems.append(str(error))
        return None


def _timed(work: Work, runs: pa.Table | None) -> Work:
    if not work.due or runs is None:
        return work
    return replace(work, seconds=estimate(work.bytes, samples_of(runs, work.service)))


def _last_runs(runs: pa.Table) -> Iterable[LastRun]:
    for row in last_ended(runs, (*ENDED, ASKS)).to_pylist():  # one for each service
        if row["outcome"] in (FAILED, KILLED, ASKS) and row["service"] not in AT_A_SHELL:
            yield LastRun(
                row["service"],
                row["outcome"],
                row["began"].astimezone(UTC),
                row["error"] or "",
                row["message"] or "",
            )


def _refused_load(entry: Table | None) -> tuple[LastRun, ...]:
    """The last load, if it was refused: loads keep that also without a history."""
    if entry is None or not isinstance(entry.source, FolderSource | TopicSource):
        return ()
    refusal = _readable(lambda: last_refusal(folder_of(entry, entry.base_path), entry.base_path))
    return (LastRun("ingest", FAILED, refusal.at, refusal.error),) if refusal is not None else ()


def damages_now(chosen: ChosenTable) -> tuple[Damage, ...]:
    """The findings of the doctor, who looks at the table now."""
    table_diagnosis = diagnose(patient(chosen.entry, chosen.base_path, {}, deep=False))
    return damages_of(table_diagnosis.diagnosis.findings)


def with_damages(facts: TableFacts, request: Request, look: Look) -> TableFacts:
    """The facts of a table with problems, or a small one, with the damage that the doctor finds: it knows the commands that bring
    rows back."""
    if not facts.problems and not _is_small(look):
        return facts
    grave = tuple(damage for damage in damages_now(request.chosen) if damage.grave)
    return replace(facts, damages=_joined(grave, facts.damages), looked=(*facts.looked, DOCTOR))


def _joined(of_doctor: tuple[Damage, ...], others: Iterable[Damage]) -> tuple[Damage, ...]:
    """The doctor's findings, and those of other checks."""
    checks = {damage.check for damage in of_doctor}
    return (*of_doctor, *(damage for damage in others if damage.check not in checks))


def _is_small(look: Look) -> bool:
    """True for a table on which the doctor takes little longer than the page: it lists partitions and reads archived commits."""
    if len(look.view.slices) > _FEW_FILES:
        return False
    return len(list(islice(look.state.archive.newest(), _FEW_INSTANTS + 1))) <= _FEW_INSTANTS


def with_inserts(facts: TableFacts, look: Look) -> TableFacts:
    """The facts with keys that the newest inserts have doubled, unless the doctor has looked: it finds them, too."""
    if DOCTOR in facts.looked:
        return facts
    doubled = damages_of(of_newest_inserts(look.state, look.view.slices))
    return replace(facts, damages=(*facts.damages, *doubled))


def unread_facts(request: Request, now: datetime, error: Exception, entries: Entries = ENTRIES) -> TableFacts:
    """The facts of a table that this error keeps from being read. The doctor looks at one that is damaged."""
    entry, error_facts = request.chosen.entry, unreadable_by(error, request.chosen.base_path)
    is_damaged = error_facts.obstacle == "damage" and not error_facts.absent
    damages = (
        [damage for damage in damages_now(request.chosen) if damage.check != UNREADABLE.name] if is_damaged else []
    )
    return TableFacts(
        request.name,
        request.chosen.base_path,
        request.target,
        now,
        entry is not None,
        damages=tuple(damages),
        unreadable=replace(error_facts, awaited=error_facts.absent and entry is not None and entry.filled_here),
        idle_patterns=_readable(lambda: patterns_without_files(entry)) or ()
        if entry is not None and error_facts.absent
        else (),
        runs=_refused_load(entry) if error_facts.absent else (),
        starts={start.service: start for start in starts_of(entry, now, entries)} if entry is not None else {},
    )
