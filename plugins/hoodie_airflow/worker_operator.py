"""The task that runs a table service in the worker: one that needs no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from hoodie.errors import HoodieError
from hoodie_airflow.assets import outlet
from hoodie_airflow.forms import asker, only_known, run_request, skip_planned, wants_explanation
from hoodie_airflow.lineage import lineage
from hoodie_airflow.log_context import log_fields
from hoodie_airflow.paused_tables import skip_paused
from hoodie_airflow.task_result import refused, task_output
from hudi_services.entry.call import Call, Task
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.failures import REPORTED_ERRORS, Failure
from hudi_services.runtime.result import Explained, Report, ServiceResult

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage


class HudiWorkerOperator(BaseOperator):
    """Runs the service `entry` on `table`; the result is the task's XCom, and the extra of the table's asset event.

    A sync registers commits that are on the timeline already: a failure costs none of them, and the next run that
    succeeds registers all. A catalog that is down is tried again; a wrong option, or a table of that name that is
    another, is not.
    """

    def __init__(
        self,
        *,
        table: Table,
        entry: ServiceEntry[Any],
        mode: str = "",
        asks: str = "",
        agreed_in: str = "",
        follows: str = "",
        **kwargs: Any,
    ) -> None:
        """`mode`, `asks`, `agreed_in` and `follows` as in `HudiServiceOperator`."""
        super().__init__(pool=table.pool, outlets=[outlet(table, entry)], **kwargs)
        # No template fields: options may hold a password, and rendered fields are shown.
        self.table = table
        self.entry = entry
        self.mode = mode
        self.asks = asks
        self.agreed_in = agreed_in
        self.follows = follows
        self._result: ServiceResult | None = None

    def execute(self, context: Any) -> dict[str, Any] | None:
        """Returns the service's result; None for an explained plan."""
        # Imported here: DAG files are parsed often, and Arrow takes a while to load.
        from hoodie.engine import LocalEngine
        from hudi_services.operations.history.recording import carried_out_recorded, delivered

        log_fields(self.table.name, self.entry.name)
        skip_planned(context, self.follows)
        try:
            only_known(context, self.entry.dag.form(self.table))
            arguments = self.entry.called_with(
                self.table, run_request(context, self.mode, self.agreed_in, self.follows)
            )
        except (HoodieError, ValueError) as error:
            raise refused(error, context) from None
        report: Report
        try:
            call = Call(self.table.base_path, arguments.options, self.log.info)
            task = self.entry.command.called(call, arguments.flags)
            if wants_explanation(context):
                report = _explained(task, self.entry.name)
            else:
                skip_paused(self.table, self.entry, context)
                recorded = recorded_table(self.table, asker(context))
                base_path, service = self.table.base_path, self.entry.name
                with delivered(recorded):
                    report = carried_out_recorded(recorded, service, base_path, task, LocalEngine())
        except REPORTED_ERRORS as error:
            report = Failure.of(error)
        self._result = report if isinstance(report, ServiceResult) else None
        return task_output(report, self.table, self.entry, context, None, self.asks)

    def get_openlineage_facets_on_start(self) -> OperatorLineage:
        return lineage(self.table, self.entry.name)

    def get_openlineage_facets_on_complete(self, _task_instance: Any) -> OperatorLineage:
        return lineage(self.table, self.entry.name, self._result)


def _explained(task: Task, service: str) -> Explained:
    from hoodie.engine import LocalEngine

    plan = task.explain(LocalEngine())
    return Explained(service, plan.as_text(service), plan.as_dict(service))
