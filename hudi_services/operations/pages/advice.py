"""The advice on one table, with what its buttons need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from hudi_services.entry.dag import EXPLAIN, OPERATION, dag_id
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.facts import IdleLoad, LastRun, TableFacts
from hudi_services.operations.advice.model import Advice, by_severity, clock
from hudi_services.operations.advice.quarantine import of_values
from hudi_services.operations.advice.snapshot_facts import snapshot_facts, unseen_facts
from hudi_services.operations.history.record import ASKS, AT_A_SHELL, FAILED, NOTHING
from hudi_services.operations.pages import snapshots
from hudi_services.operations.pages.snapshots import FleetState
from hudi_services.operations.watch.findings import DoctorRound
from hudi_services.operations.watch.model import Snapshot
from hudi_services.operations.watch.run_history import EndedRun, RecentRuns
from hudi_services.operations.watch.unread import unreadable
from hudi_services.services.entries import ENTRIES, Entries


@dataclass(frozen=True)
class Buttons:
    """The DAG that carries an advice out, with the values of its form that explain the plan (None: it has no such form), and
    those that run it."""

    dag: str
    explain: Mapping[str, Any] | None
    run: Mapping[str, Any]


@dataclass(frozen=True)
class AdvicePage:
    """The box: `advice` as `hudi-services advise --json` has it, the gravest first, each with its `buttons` (None: it has no DAG,
    or this user may start none). `looked` names what was looked at, at `looked_at`; None: the watcher has not looked yet."""

    now: str
    looked_at: str | None
    looked: tuple[str, ...]
    advice: tuple[Mapping[str, Any], ...]


def advice_page(
    table: Table,
    fleet_state: FleetState,
    snapshot: Snapshot | None,
    now: datetime,
    startable: Collection[str],
    doctor: DoctorRound | None = None,
    server: Collection[Advice] = (),
    *,
    shows_quarantine: bool = False,
) -> AdvicePage:
    """The advice on a table by the watcher's last look, and by the last runs of Airflow and of the history. `startable` are DAGs
    that the user may start, `doctor` is the last round of the doctor, `server` the advice on the server that feeds the table.
    With `shows_quarantine` the user may see quarantined rows, and so their reasons."""
    facts = _facts(table, fleet_state, snapshot, now, shows_quarantine=shows_quarantine)
    if doctor is not None and facts.unreadable is None:
        seen = {damage.check for damage in facts.damages}
        earlier = (damage for damage in doctor.damages if damage.check not in seen)
        facts = replace(facts, damages=(*facts.damages, *earlier))
    at = snapshot.summary.looked_at.isoformat() if snapshot is not None else None
    advice = by_severity((*advise(facts), *server))
    looked = (
        *facts.looked,
        *((f"the doctor's round of {clock(doctor.looked_at, now)}",) if doctor is not None else ()),
        *(("the server",) if isinstance(table.source, DatabaseSource) else ()),
    )
    rows = tuple({**item.as_dict(now), "buttons": _buttons(table, item, startable)} for item in advice)
    return AdvicePage(now.isoformat(), at, looked, rows)


def _facts(
    table: Table, fleet_state: FleetState, snapshot: Snapshot | None, now: datetime, *, shows_quarantine: bool
) -> TableFacts:
    runs, recent = list(_runs(table, fleet_state)), fleet_state.recent.get(table.name, {})
    if snapshot is None:
        return unseen_facts(table, None, now, runs)
    if snapshot.summary.health in ("unreadable", "absent"):
        return unseen_facts(table, unreadable(table, snapshot.summary), now, runs)
    samples = {service: of_service.samples for service, of_service in recent.items()}
    facts = snapshot_facts(table, snapshot.body["table"], snapshot.summary.looked_at, now, runs, samples)
    quarantine = snapshot.body.get("quarantine")
    bad = of_values(quarantine, with_reason=shows_quarantine) if quarantine is not None else None
    looked = (*facts.looked, "quarantine") if "quarantine" in snapshot.body else facts.looked
    return replace(facts, idle_load=_idle_load(table, recent), bad_rows=bad, looked=looked)


def _idle_load(table: Table, recent: Mapping[str, RecentRuns]) -> IdleLoad | None:
    """The last load by the history. The source itself is not looked at."""
    last = recent["ingest"].last if "ingest" in recent else None
    if table.source is None or last is None or last.outcome != NOTHING:
        return None
    return IdleLoad(table.source.address, last.message, _moment(last.began))


def _runs(table: Table, fleet_state: FleetState) -> Iterator[LastRun]:
    """The last run of each service that failed, was killed or asks: by Airflow, or by the history if that has a later one."""
    recent = fleet_state.recent.get(table.name, {})
    by_airflow = {run.service: run for run in snapshots.last_runs(table, fleet_state)}
    for service in dict.fromkeys((*by_airflow, *recent)):
        run, last = by_airflow.get(service), recent[service].last if service in recent else None
        same = last is not None and run is not None and last.dag_run == run.run
        if run is not None and run.state == "asks":
            yield LastRun(service, ASKS, _moment(run.at))
        elif last is not None and not same and (run is None or _moment(last.ended) > _moment(run.at)):
            if not last.is_success and service not in AT_A_SHELL:
                yield LastRun(service, last.outcome, _moment(last.ended), last.error, last.message)
        elif run is not None and run.is_failed:
            why = last if same and last is not None and not last.is_success else EndedRun(FAILED, "", "")
            yield LastRun(service, FAILED, _moment(run.at), why.error, why.message)


def _moment(iso: str) -> datetime:
    return datetime.fromisoformat(iso).astimezone(UTC)


def _buttons(table: Table, advice: Advice, startable: Collection[str], entries: Entries = ENTRIES) -> Buttons | None:
    entry = next(
        (
            service_entry
            for service_entry in entries
            if service_entry.name == advice.service and service_entry.has_dag(table)
        ),
        None,
    )
    if entry is None or dag_id(entry.name, table.name) not in startable:
        return None
    explains = any(field.name == OPERATION.name for field in entry.dag.form(table))
    run = {OPERATION.name: OPERATION.default} if explains else {}
    return Buttons(
        dag_id(entry.name, table.name),
        {**advice.parameters, OPERATION.name: EXPLAIN} if explains else None,
        {**advice.parameters, **run},
    )
