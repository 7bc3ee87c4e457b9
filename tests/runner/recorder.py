"""A pytest plugin: writes the outcome and the seconds of each phase of each test, a JSON line each, to the file RECORD_TO."""

from __future__ import annotations

import json
import os

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Record this run. The workers of xdist leave it to the process that started them."""
    path = os.environ.get("RECORD_TO")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(path))


class _Recorder:
    def __init__(self, path: str) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        line = {"test": report.nodeid, "phase": report.when, "outcome": report.outcome, "seconds": report.duration}
        with open(self._path, "a") as file:
            file.write(json.dumps(line) + "\n")
