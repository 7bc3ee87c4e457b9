"""A pytest plugin: writes the outcome and the seconds of each phase of each test, a JSON line each, to the file RECORD_TO.

`processor` is the time of the test's process and of those that it started and that ended in the phase.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Generator

import pytest

_before = 0.0  # the processor time of this process when the last phase ended


def pytest_configure(config: pytest.Config) -> None:
    """Record this run. The workers of xdist leave it to the process that started them."""
    path = os.environ.get("RECORD_TO")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(path))


def pytest_runtest_logstart() -> None:
    global _before
    _before = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Measures where the test runs. xdist brings what is set here to the process that records."""
    global _before
    report = yield
    before, _before = _before, _processor_seconds()
    report.processor = _before - before
    return report


def _processor_seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class _Recorder:
    def __init__(self, path: str) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        line = {
            "test": report.nodeid,
            "phase": report.when,
            "outcome": report.outcome,
            "seconds": report.duration,
            "processor": getattr(report, "processor", 0.0),  # a worker that died reports nothing
        }
        with open(self._path, "a") as file:
            file.write(json.dumps(line) + "\n")
