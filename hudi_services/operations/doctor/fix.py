"""`doctor --fix`: shows what it would fix, asks, fixes, and looks again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hoodie.clock import SystemClock
from hoodie.doctor.repair import decide_mending, mend
from hoodie.engine import LocalEngine
from hoodie.storage import open_storage
from hoodie.view.access import TableAccess
from hudi_services.operations.doctor.rounds import Patient, TableDiagnosis, look
from hudi_services.operations.history.manual import by_hand
from hudi_services.runtime.failures import Failure


@dataclass(frozen=True)
class FixedTable:
    """A table after a fix, or without one: `done` in the past tense, `failure` when the fix ended with an error, and
    what is wrong with the table now."""

    seen: TableDiagnosis
    plan: dict[str, Any]
    done: tuple[str, ...] = ()
    failure: Failure | None = None

    def as_dict(self) -> dict[str, Any]:
        """The fix as values for programs."""
        failed = {"failure": self.failure.as_dict()} if self.failure is not None else {}
        return {**self.seen.as_dict(), "plan": self.plan, "mended": list(self.done), **failed}

    def as_text(self) -> str:
        """The fixes that were made, and the error."""
        lines = [f"{self.seen.name}: {line}" for line in self.done]
        return "\n".join([*lines, *([self.failure.block()] if self.failure is not None else [])])


def fix(
    patient: Patient, table_diagnosis: TableDiagnosis, show: Callable[[str], None], agree: Callable[[], bool]
) -> FixedTable:
    """Fix a table that was looked at, once `agree` says so. Any failure is reported with what remains."""
    decision = decide_mending(table_diagnosis.diagnosis)
    plan = decision.as_dict("doctor")
    show(decision.as_text(f"doctor {table_diagnosis.name}"))
    if decision.plan is None or not agree():
        return FixedTable(table_diagnosis, plan)
    access, failure, repairs = (
        TableAccess(open_storage(patient.base_path), SystemClock(), LocalEngine()),
        None,
        list[str](),
    )
    try:
        with by_hand(patient.recorded, "doctor", patient.base_path) as say:
            repairs = mend(access, decision.plan, patient.options)
            if repairs:
                say("; ".join(repairs))
    except Exception as error:  # noqa: BLE001 - one table does not end the round
        failure = Failure.of(error)
    return FixedTable(look(patient), plan, tuple(repairs), failure)
