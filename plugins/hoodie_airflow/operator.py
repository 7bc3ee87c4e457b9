"""The task that runs a table service: on threads in a process of its own, or by spark-submit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from airflow.exceptions import AirflowException
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from hoodie.errors import ConfigError, HoodieError
from hoodie_airflow.assets import outlet
from hoodie_airflow.connections import connections_of_source
from hoodie_airflow.forms import asker, only_known, run_request, skip_planned, wants_explanation
from hoodie_airflow.lineage import lineage
from hoodie_airflow.log_context import log_fields
from hoodie_airflow.output import Output, beside_log
from hoodie_airflow.paths import SPARK_APPS
from hoodie_airflow.paused_tables import skip_paused
from hoodie_airflow.progress import followed, shown_progress
from hoodie_airflow.results import local_result, shared_result
from hoodie_airflow.submit import died, environment, left_report, noting, service_environment, submitter_environment
from hoodie_airflow.subprocess_runner import Child
from hoodie_airflow.task_result import refused, task_output
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.size_estimate import AUTO, SPARK
from hudi_services.entry.table import SparkSection, Table
from hudi_services.operations.history.flag import recorded_flag, recorded_table
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.progress_file import progress_flag
from hudi_services.runtime.result import SERVICE_FAILED, Report, ServiceResult

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage


class HudiServiceOperator(SparkSubmitOperator):
    """Runs the service `entry` on `table`: on threads, or through the table's Spark connection, as the registry's
    `engine` says.

    The work of the run comes from its data interval and the `params` of its form. The service's result is the task's
    XCom and the extra of the table's asset event. A run with an impossible request fails without a retry.
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
        """`mode` is the step's, for the arguments of the entry; the error `asks` is a question instead of a failure, and the task
        `agreed_in` has asked one that was agreed to, the task `follows` has scheduled what this one carries out."""
        section = entry.section_of(table)
        assert isinstance(section, SparkSection), "a DAG is made only for what the registry has"
        kwargs.setdefault("application", str(SPARK_APPS / str(entry.command.application)))
        # A retry submits again, and what the last try left is rolled back. It could not wait for the last try's driver: without
        # YARN's REST API the provider refuses to, and that driver's result is not the retry's.
        kwargs.setdefault("durable", False)
        super().__init__(
            conn_id=table.connection,
            conf=dict(sorted(section.spark.items())),
            name=f"hudi-{entry.name}-{table.name}",
            pool=table.pool,
            outlets=[outlet(table, entry)],
            **kwargs,
        )
        self.table = table
        self.entry = entry
        self.mode = mode
        self.asks = asks
        self.agreed_in = agreed_in
        self.follows = follows
        self._child: Child | None = None
        self._result: ServiceResult | None = None

    def execute(self, context: Any) -> dict[str, Any] | None:
        """Run it and wait. Returns the service's result; None for an explained plan, which is an XCom of its own."""
        log_fields(self.table.name, self.entry.name)
        skip_planned(context, self.follows)
        try:
            only_known(context, self.entry.dag.form(self.table))
            request = run_request(context, self.mode, self.agreed_in, self.follows)
            arguments = self.entry.called_with(self.table, request).as_flags(self.table.base_path)
        except (HoodieError, ValueError) as error:
            raise refused(error, context) from None
        if not wants_explanation(context):
            skip_paused(self.table, self.entry, context)
        recorded = recorded_table(self.table, asker(context))
        arguments += ["--explain"] if wants_explanation(context) else recorded_flag(recorded)
        environment_of_source = environment(connections_of_source(self.table))
        with environment_of_source, Output(beside_log(context, "output.txt"), shown_progress(context)) as output:
            engine = self.entry.engine_of(self.table)
            report = self._on_threads(arguments, engine, output) if engine != SPARK else None
            if report is None:
                report = self._on_spark(arguments, output, context)
            self._result = report if isinstance(report, ServiceResult) else None
            return task_output(report, self.table, self.entry, context, output, self.asks)

    def get_openlineage_facets_on_start(self) -> OperatorLineage:
        return lineage(self.table, self.entry.name)

    def get_openlineage_facets_on_complete(self, _task_instance: Any) -> OperatorLineage:
        return lineage(self.table, self.entry.name, self._result)

    def on_kill(self) -> None:
        if self._child is not None:
            self._child.kill()
        if self._hook is not None:
            super().on_kill()

    def _on_threads(self, arguments: list[str], engine: str, output: Output) -> Report | None:
        self._child = Child(self.entry, self.table, self.log.info, output)
        with local_result() as path:
            return self._child.run(arguments, path, may_leave=engine == AUTO)

    def _on_spark(self, arguments: list[str], output: Output, context: Any) -> Report:
        try:
            cluster = self._check_connection()
        except HoodieError as error:
            raise refused(error, context) from None
        arguments = [*arguments, "--verbose"]
        if not cluster:
            with local_result() as path:
                return self._submitted(arguments, path, cluster, output, context)
        with (
            shared_result(self.table, self.entry.name) as (path, progress),
            followed(progress, shown_progress(context)),
        ):
            return self._submitted([*arguments, *progress_flag(progress)], path, cluster, output, context)

    def _submitted(self, arguments: list[str], path: str, cluster: bool, output: Output, context: Any) -> Report:
        self.application_args = [*arguments, "--result-path", path]
        try:
            self.env_vars = None if cluster else service_environment(os.environ)
        except HoodieError as error:
            return Failure.of(error)
        self._hook = noting(self._get_hook(), output.kept if cluster else output.shown)
        try:
            with environment(submitter_environment(os.environ) if cluster else {}):
                super().execute(context)
        except AirflowException as error:
            report = left_report(path)
            # Its rows are in when only a service after the commit failed: the result says which.
            if isinstance(report, Failure) or (
                isinstance(report, ServiceResult) and report.exit_code == SERVICE_FAILED
            ):
                return report
            return died(error, output)
        return left_report(path) or died(None, output)

    def _check_connection(self) -> bool:
        """Return true if Spark's driver runs in the cluster. Raises ConfigError where it cannot work."""
        # Without this a connection that is not there would silently mean `--master yarn`.
        try:
            connection = BaseHook.get_connection(self.table.connection)
        except AirflowNotFoundException:
            raise ConfigError(
                f"The Spark connection {self.table.connection!r} of table {self.table.name} is not defined",
                fix="add it under Admin > Connections, or set the environment variable "
                f"AIRFLOW_CONN_{self.table.connection.upper()}; or say `engine: local` for the table",
            ) from None
        if connection.extra_dejson.get("deploy-mode") != "cluster":
            return False
        title = f"The Spark connection {self.table.connection!r} has deploy-mode cluster"
        if (connection.host or "").startswith(("spark:", "local")):
            raise ConfigError(
                f"{title}: Spark runs no Python application so on {connection.host}", fix="use client mode"
            )
        if self.table.results is None:
            raise ConfigError(
                f"{title}: its driver, on another machine, has nowhere to leave its result",
                fix="name a folder that all machines share, such as `results: s3://lake/.results`, for table "
                f"{self.table.name} or below `defaults` in the registry; or use client mode",
            )
        return True
