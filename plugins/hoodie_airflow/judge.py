"""The judge of the registry as a DAG: it looks which objectives are missed, and starts the services that restore them.
No Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, BaseOperator, CronDataIntervalTimetable

from hoodie.display import counted
from hoodie.errors import StoreError
from hoodie_airflow.forms import OBJECTIVE
from hoodie_airflow.paths import registry_file
from hoodie_airflow.task_result import bounded
from hudi_services.entry.judge import JUDGE_DAG, Judge, is_quiet
from hudi_services.entry.table import Table
from hudi_services.operations.objectives.facts import Facts
from hudi_services.registry.load import Registry, read_registry

_CHOICES = "choices"
_GOES_ON = ["queued", "running"]  # states of a DAG's runs


def judge_dag(file: Path | None = None) -> DAG | None:
    """The DAG; None where the registry has no section `judge`."""
    place = file or registry_file()
    judge = read_registry(place).registry.judge
    if judge is None:
        return None
    quiet = f" It starts nothing from {', '.join(judge.quiet)} (UTC)." if judge.quiet else ""
    with DAG(
        dag_id=JUDGE_DAG,
        schedule=CronDataIntervalTimetable(judge.schedule, timezone="UTC") if judge.schedule else None,
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        tags=["hudi", "objectives"],
        description="Starts the services of tables whose objectives are missed, the most urgent first",
        doc_md=f"`hudi-services objectives` of the tables in `{place}` whose services have `schedule: objectives`.{quiet}",
        default_args={"owner": judge.owner, "retries": 0},
    ) as dag:
        judging = HudiJudgeOperator(task_id="judge", file=str(place), judge=judge)
        TriggerDagRunOperator.partial(task_id="start", skip_when_already_exists=True).expand_kwargs(judging.output)
    return dag


class HudiJudgeOperator(BaseOperator):
    """Looks at the tables that have services by objectives. Returns which DAGs are to be started, as arguments of a trigger; all
    choices, with the reasons, are its XCom `choices` and its log."""

    def __init__(self, *, file: str, judge: Judge, **kwargs: Any) -> None:
        super().__init__(pool=judge.pool, **kwargs)
        self.file = file
        self.judge = judge

    def execute(self, context: Any) -> list[dict[str, Any]]:
        """Judge the tables. One that cannot be looked at is reported, and the others go on."""
        # Imported here: DAG files are parsed often, and Arrow takes a while to load.
        from hoodie.clock import SystemClock
        from hudi_services.operations.objectives.rounds import rounds
        from hudi_services.operations.objectives.starter import asked_ahead, candidates, choose, would_do
        from hudi_services.services.entries import services_by_objectives

        ti, clock = context["ti"], SystemClock()
        registry = read_registry(self.file).registry
        tables = [table for table in registry.tables if any(services_by_objectives(table))]
        judged = rounds(tables, self.judge.at_once, clock, self._snapshot_facts(registry, clock.now()))
        for table in judged:
            if table.error is not None:
                self.log.error("Table %s cannot be looked at: %s", table.table, table.error)
        candidate_list = candidates(tables, judged)
        with asked_ahead(candidate_list, would_do, self.judge.at_once) as due:
            choices = choose(
                candidate_list,
                registry.pools,
                self.judge.most,
                quiet=is_quiet(self.judge.quiet, clock.now()),
                active=lambda dag: ti.get_dr_count(dag, states=_GOES_ON) > 0,
                due=due,
            )
        rows = [choice.as_dict() for choice in choices]
        for row in rows:
            verb = "start" if row["started"] else "not now"
            why = row["table"], row["objective"], row["service"], verb, row["reason"]
            self.log.info("%s: %s is missed; %s: %s, %s", *why)
        looked, services = counted(len(tables), "table"), counted(len(choices), "service")
        measured = sum(judgement.seen for judgement in judged)
        self.log.info(
            "%s by objectives, %d of them as the watcher saw them; %s would restore missed objectives",
            looked,
            measured,
            services,
        )
        report = {
            "tables": len(tables),
            _CHOICES: rows,
            "errors": {e.table: e.error for e in judged if e.error is not None},
        }
        ti.xcom_push(_CHOICES, json.loads(json.dumps(bounded(report, _CHOICES, _CHOICES, ("tables",), context))))
        return [
            {
                "trigger_dag_id": choice.candidate.dag,
                "trigger_run_id": f"objectives__{ti.run_id}",
                "conf": {OBJECTIVE: choice.candidate.verdict.objective},
            }
            for choice in choices
            if choice.started
        ]

    def _snapshot_facts(self, registry: Registry, now: datetime) -> Callable[[Table], Facts | None]:
        """The facts as the watcher saw them; where its store cannot be reached from here, the tables themselves are
        looked at."""
        from hudi_services.operations.watch.facts import SnapshotFacts
        from hudi_services.operations.watch.location import store_of
        from hudi_services.operations.watch.store import SnapshotStore

        try:
            return SnapshotFacts(SnapshotStore.open(store_of(registry)), registry.watch.every, now)
        except StoreError as error:
            self.log.info("The tables are looked at, as there is no snapshot store here: %s", error.what)
            return lambda _entry: None
