"""The services that are started because an objective is missed: the most urgent first, without those that would find
nothing to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hudi_services.entry.call import Call
from hudi_services.entry.dag import Outlook, RunRequest, dag_id
from hudi_services.entry.preconditions import not_begun
from hudi_services.entry.table import Table
from hudi_services.operations.objectives.verdict import Verdict
from hudi_services.services.entries import ENTRIES, Entries, entry_named, services_by_objectives

if TYPE_CHECKING:  # it loads Arrow
    from hudi_services.operations.objectives.rounds import Judged


@dataclass(frozen=True)
class Candidate:
    """A service of a table that restores a missed objective; `verdict` is the most urgent of those."""

    table: Table
    verdict: Verdict

    @property
    def service(self) -> str:
        return self.verdict.service

    @property
    def dag(self) -> str:
        return dag_id(self.service, self.table.name)


@dataclass(frozen=True)
class Choice:
    """The decision to start a candidate or not, and why."""

    candidate: Candidate
    started: bool
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The choice as values for programs."""
        verdict = self.candidate.verdict
        return {
            "table": self.candidate.table.name,
            "objective": verdict.objective,
            "service": verdict.service,
            "urgency": verdict.urgency,
            "since": verdict.since.isoformat() if verdict.since is not None else None,
            "started": self.started,
            "reason": self.reason,
        }


def candidates(tables: Iterable[Table], judged: Iterable[Judged], entries: Entries = ENTRIES) -> list[Candidate]:
    """The most urgent first; of each service of a table one."""
    tables_by_name = {table.name: table for table in tables}
    missed = [
        (tables_by_name[judgement.table], verdict)
        for judgement in judged
        for verdict in judgement.verdicts
        if not verdict.is_met
    ]
    missed.sort(key=lambda pair: (-pair[1].urgency, pair[0].name, pair[1].objective))
    result: dict[str, Candidate] = {}
    for table, verdict in missed:
        candidate = Candidate(table, verdict)
        if verdict.service in services_by_objectives(table, entries):
            result.setdefault(candidate.dag, candidate)
    return list(result.values())


def choose(
    waiting: Sequence[Candidate],
    pools: Mapping[str, int],
    most: int,
    *,
    quiet: bool,
    active: Callable[[str], bool],
    due: Callable[[Candidate], Outlook],
) -> list[Choice]:
    """Choose in their order: at most `most`, and in each of the `pools` (name -> slots) no more than it has slots for
    beside those that are `active`, by the ids of their DAGs. `due` is asked of no other."""
    if quiet:
        return [Choice(candidate, False, "these are quiet hours") for candidate in waiting]
    busy = {candidate.dag for candidate in waiting if active(candidate.dag)}
    used_slots = Counter(candidate.table.pool for candidate in waiting if candidate.dag in busy)
    choices, started = [], 0
    for candidate in waiting:
        pool = candidate.table.pool
        if candidate.dag in busy:
            choices.append(Choice(candidate, False, "a run of it goes on"))
        elif used_slots[pool] >= pools.get(pool, most) or started >= most:
            choices.append(Choice(candidate, False, "more urgent ones go first"))
        else:
            outlook = due(candidate)
            choices.append(Choice(candidate, outlook.due, outlook.reason))
            used_slots[pool] += outlook.due
            started += outlook.due
    return choices


@contextmanager
def asked_ahead(
    waiting: Sequence[Candidate], due: Callable[[Candidate], Outlook], at_once: int
) -> Iterator[Callable[[Candidate], Outlook]]:
    """The same question, asked of `at_once` candidates at the same time: of the one that is wanted, and of those after
    it."""
    places = {candidate.dag: number for number, candidate in enumerate(waiting)}
    futures: dict[int, Future[Outlook]] = {}
    with ThreadPoolExecutor(at_once) as threads:

        def ask(candidate: Candidate) -> Outlook:
            place = places[candidate.dag]
            for number in range(place, min(place + at_once, len(waiting))):
                if number not in futures:
                    futures[number] = threads.submit(due, waiting[number])
            return futures[place].result()

        yield ask


def would_do(candidate: Candidate) -> Outlook:
    """The outlook of the service: due if it would find something to do now. It needs no Spark and changes nothing."""
    from hoodie.engine import LocalEngine  # loads Arrow

    table = candidate.table
    entry = entry_named(candidate.service)
    if entry.name != "ingest" and (missing := not_begun(table)):
        return missing
    try:
        arguments = entry.called_with(
            table, RunRequest(run_type="operator_triggered", urged=candidate.verdict.objective)
        )
        task = entry.command.called(Call(table.base_path, arguments.options), arguments.flags)
        decision = task.explain(LocalEngine())
    except Exception as error:  # noqa: BLE001 - any error of a storage: the service itself has to look
        return Outlook(True, f"what it would do could not be seen here: {error}")
    pending_plans = decision.facts.get("pending_plans") or decision.facts.get("backlog", {}).get("pending_plans")
    if decision.plan is None and not pending_plans:
        return Outlook(False, f"it would do nothing: {decision.reason}")
    return Outlook(True, decision.reason)
