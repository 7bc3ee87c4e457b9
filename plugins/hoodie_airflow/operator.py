"""The task that runs a table service by spark-submit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from airflow.exceptions import AirflowException
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException

from hoodie.errors import HoodieError
from hoodie_airflow.assets import outlet
from hoodie_airflow.forms import asked, wants_explanation
from hoodie_airflow.outcome import told
from hoodie_airflow.places import SPARK_APPS
from hoodie_airflow.results import local_result, shared_result
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import SparkSection, Table
from hudi_services.java import spark_environment
from hudi_services.result import SERVICE_FAILED, ServiceResult
from hudi_services.spark_session import checkout_folders

_WRONG_USAGE = re.compile(r"Error code is: 2\b")
_SERVICE_FAILED = re.compile(rf"Error code is: {SERVICE_FAILED}\b")


class HudiServiceOperator(SparkSubmitOperator):
    """Runs the service `entry` on `table` through the table's Spark connection.

    What the run has to do comes from its data interval and the `params` of its form. The service's result is the task's XCom
    and the extra of the table's asset event. A run that was told something impossible fails without a retry.
    """

    def __init__(self, *, table: Table, entry: ServiceEntry[Any], mode: str = "", **kwargs: Any) -> None:
        """`mode` is the step's, for the arguments of the entry."""
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

    def execute(self, context: Any) -> dict[str, Any] | None:
        """Submit and wait. Returns the service's result; None for an explained plan."""
        cluster = self._check_connection()
        explain = wants_explanation(context)
        with shared_result(self.table, self.entry.name) if cluster else local_result() as path:
            try:
                self.application_args = [*self._arguments(context), *_mode(explain, path)]
                self.env_vars = None if cluster else service_environment(os.environ)
            except (HoodieError, ValueError) as error:
                raise AirflowFailException(str(error)) from error
            try:
                with _environment(submitter_environment(os.environ) if cluster else {}):
                    self._submit(context)
            except AirflowException:
                # Of a driver in the cluster Spark tells only that it failed: its result says whether its rows are in.
                if explain or not (cluster and _only_services_failed(path)):
                    raise
            if explain:
                return None
            result = _read(path)
        return told(result, self.table, self.entry, context)

    def _arguments(self, context: Any) -> list[str]:
        arguments = self.entry.called_with(self.table, asked(context, self.mode))
        return arguments.as_flags(self.table.base_path)

    def _check_connection(self) -> bool:
        """Whether Spark's driver runs in the cluster. Fails where it cannot work."""
        # Without this a connection that is not there would silently mean `--master yarn`.
        try:
            connection = BaseHook.get_connection(self.table.connection)
        except AirflowNotFoundException as error:
            raise AirflowFailException(
                f"The Spark connection {self.table.connection!r} of table {self.table.name} is not defined. To do: add it under "
                f"Admin > Connections, or set AIRFLOW_CONN_{self.table.connection.upper()}."
            ) from error
        if connection.extra_dejson.get("deploy-mode") != "cluster":
            return False
        said = f"The Spark connection {self.table.connection!r} has deploy-mode cluster"
        if (connection.host or "").startswith(("spark:", "local")):
            raise AirflowFailException(
                f"{said}: Spark runs no Python application so on {connection.host}. To do: use client mode."
            )
        if self.table.results is None:
            raise AirflowFailException(
                f"{said}: its driver, on another machine, has nowhere to leave its result. To do: name a folder that all "
                f"machines share, such as `results: s3://lake/.results`, for table {self.table.name} or below `defaults` in the "
                "registry; or use client mode."
            )
        return True

    def _submit(self, context: Any) -> None:
        try:
            super().execute(context)
        except AirflowException as error:
            if _SERVICE_FAILED.search(str(error)):
                return  # its rows are in: the result says which service after the commit failed
            if _WRONG_USAGE.search(str(error)):
                raise AirflowFailException(
                    f"{error}\nThe service was told something impossible: not tried again."
                ) from error
            raise


def service_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What spark-submit needs: Java, this interpreter, and the project's code. Raises MachineError without a Java."""
    own = checkout_folders()
    given = [part for part in environ.get("PYTHONPATH", "").split(os.pathsep) if part and part not in own]
    return {**spark_environment(environ), "PYTHONPATH": os.pathsep.join([*own, *given])}


def submitter_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What spark-submit needs on this machine when the driver runs on another: nothing in it is the driver's."""
    own = spark_environment(environ)
    return {name: own[name] for name in ("JAVA_HOME", "PATH")}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables of this process, and so of spark-submit, for the block.

    What the Spark hook is given as environment it hands on to a driver in the cluster.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _mode(explain: bool, result_path: str) -> list[str]:
    return ["--explain"] if explain else ["--result-path", result_path]


def _only_services_failed(path: str) -> bool:
    try:
        return ServiceResult.read(path).exit_code == SERVICE_FAILED
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _read(path: str) -> ServiceResult:
    try:
        return ServiceResult.read(path)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise AirflowException(f"The service ended well but left no result that can be read: {error}") from error
