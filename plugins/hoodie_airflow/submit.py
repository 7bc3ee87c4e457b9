"""spark-submit as a task runs it: its environment, what is shown of its output, what it came to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from airflow.exceptions import AirflowException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from hoodie_airflow.output import Output
from hudi_services.runtime.failures import Failure, core
from hudi_services.runtime.result import Report, read_report
from hudi_services.runtime.spark.java import spark_environment
from hudi_services.runtime.spark.session import checkout_folders

_CODE = re.compile(r"Error code is: (\d+)\b")


def service_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of spark-submit: Java, this interpreter, and the project's code. Raises MachineError without a
    Java."""
    own = checkout_folders()
    inherited = [part for part in environ.get("PYTHONPATH", "").split(os.pathsep) if part and part not in own]
    return {**spark_environment(environ), "PYTHONPATH": os.pathsep.join([*own, *inherited])}


def submitter_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of spark-submit on this machine when the driver runs on another: nothing in it is the driver's."""
    own = spark_environment(environ)
    return {name: own[name] for name in ("JAVA_HOME", "PATH")}


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables of this process, and so of spark-submit, for the block.

    The Spark hook hands the environment that it is given on to a driver in the cluster.
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


def noting(hook: SparkSubmitHook, filter_lines: Callable[[Iterator[str]], Iterator[str]]) -> SparkSubmitHook:
    """The hook, which logs every line of spark-submit's output that `filter_lines` lets pass."""
    log = hook._process_spark_submit_log
    hook._process_spark_submit_log = lambda lines: log(filter_lines(lines))
    return hook


def left_report(path: str) -> Report | None:
    """The report that the service has left; None when it left none."""
    try:
        return read_report(path)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def died(error: AirflowException | None, output: Output) -> Failure:
    """The failure of a service without a report: by the last words of the process."""
    code = _CODE.search(str(error))
    if error is None:
        title = "The service ended well but left no result that can be read"
    elif code is None:
        title = str(error)
    else:
        title = f"spark-submit ended with code {code[1]} before the service could say why"
    wrong_usage = code is not None and code[1] == "2"
    result = core(output.last) or output.last.rpartition("\n")[2] or None
    return Failure("SparkError", title, result, None, 2 if wrong_usage else 1, retryable=not wrong_usage)
