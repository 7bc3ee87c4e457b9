"""The doctor's rounds of the registry as a DAG: no Spark, and nothing is changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, BaseOperator, CronDataIntervalTimetable, Param

from hoodie_airflow.paths import registry_file
from hoodie_airflow.task_result import bounded, check_form, failed
from hudi_services.entry.doctor import DOCTOR_DAG, Doctor
from hudi_services.registry.load import read_registry
from hudi_services.runtime.failures import Failure

if TYPE_CHECKING:  # it loads Arrow
    from hudi_services.operations.doctor.rounds import TableDiagnosis

_HEALTH = "health"
_MOST_NAMED = 5  # findings in a failure's message
_WARNED, _DAMAGED = 1, 2  # exit codes of the command


def doctor_dag(file: Path | None = None) -> DAG | None:
    """The DAG; None where the registry has no section `doctor`."""
    place = file or registry_file()
    doctor = read_registry(place).registry.doctor
    if doctor is None:
        return None
    with DAG(
        dag_id=DOCTOR_DAG,
        schedule=CronDataIntervalTimetable(doctor.schedule, timezone="UTC") if doctor.schedule else None,
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        params={"deep": Param(doctor.deep, type="boolean", title="Deep", description="Also read data files.")},
        tags=["hudi", "doctor"],
        description="Checks the tables of the registry, and names fixes",
        doc_md=f"`hudi-services doctor` of all tables in `{place}`. It changes nothing. The run fails on {doctor.fails_on}.",
        default_args={"owner": doctor.owner, "retries": 0},
    ) as dag:
        HudiDoctorOperator(task_id="doctor", file=str(place), doctor=doctor)
    return dag


class HudiDoctorOperator(BaseOperator):
    """Looks at all tables of a registry. The findings are the task's XCom, the worst first, and its log as text.

    The task fails from the severity on that the registry names; it is not tried again.
    """

    def __init__(self, *, file: str, doctor: Doctor, **kwargs: Any) -> None:
        super().__init__(pool=doctor.pool, **kwargs)
        self.file = file
        self.doctor = doctor

    def execute(self, context: Any) -> dict[str, Any]:
        """Returns the result. Raises AirflowFailException."""
        from hudi_services.operations.doctor import report  # loads Arrow, and DAG files are parsed often

        check_form(context, ("deep",))
        diagnoses = self._diagnoses(deep=bool(context["params"].get("deep")))
        for line in report.as_text(diagnoses).splitlines():
            self.log.info("%s", line)
        findings = report.as_findings(diagnoses)
        needed = ("exit_code", "message", "tables", "healthy")
        result: dict[str, Any] = json.loads(
            json.dumps(bounded(findings, "findings", _HEALTH, needed, context), default=str)
        )
        if findings["exit_code"] >= (_DAMAGED if self.doctor.fails_on == "damage" else _WARNED):
            context["ti"].xcom_push("return_value", result)  # who is called to a failed task wants it the more
            raise failed(_failure(findings), context)
        if findings["exit_code"]:
            self.log.warning("%s", findings["message"])
        return result

    def _diagnoses(self, *, deep: bool) -> list[TableDiagnosis]:
        from hudi_services.operations.doctor.registry_tables import patients
        from hudi_services.operations.doctor.rounds import rounds
        from hudi_services.operations.watch.findings import keep_round

        reading = read_registry(self.file)
        well, diagnoses = patients(reading, {}, deep=deep)
        diagnoses += rounds(well, self.doctor.at_once, None)
        keep_round(reading.registry, diagnoses, datetime.now(UTC), deep=deep)
        return sorted(diagnoses, key=lambda table: table.name)


def _failure(report: dict[str, Any]) -> Failure:
    worst = report["findings"][:_MOST_NAMED]
    lines = [f"{finding['table']}: {finding['check']}: {finding['what']}" for finding in worst]
    more = len(report["findings"]) - len(worst)
    text = "; ".join([*lines, *([f"and {more:,} more"] if more else [])])
    fix = "run `hudi-services doctor --fix`; the log has the fix of each finding"
    return Failure("DoctorFindings", report["message"], text, fix, report["exit_code"], retryable=False)
