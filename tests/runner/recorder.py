"""A pytest plugin: writes the outcome and the seconds of each phase of each test, a JSON line each, to the file RECORD_TO."""

from __future__ import annotations

import json
import os

import pytest


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record a phase. The processes of xdist leave it to the one that started them."""
    path = os.environ.get("RECORD_TO")
    if path is None or "PYTEST_XDIST_WORKER" in os.environ:
        return
    line = {"test": report.nodeid, "phase": report.when, "outcome": report.outcome, "seconds": report.duration}
    with open(path, "a") as file:
        file.write(json.dumps(line) + "\n")
