"""Helpers of all tests of the services."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from tests.support.matrix import leave_out_crosses, leave_out_types

QUICK_CASES = 3  # parameters of a test, at most: of `make quick`, while CI takes all
UNIT = Path(__file__).parent
AIRFLOW = UNIT / "hoodie_airflow"
SQL = UNIT / "sql"
ABOVE = tuple(UNIT / name for name in ("changes", "hudi_services", "services", "spark"))
"""Folders of tests that use tables, whose two types the folders of `read`, `write`, `merge` and `transaction` test."""


@pytest.fixture(autouse=True)
def without_flushing(monkeypatch):
    """No test here pulls the plug of the machine: files need not be forced to a disk that others use too."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(autouse=True)
def levels_of_the_log():
    """`--verbose` sets them for a whole process; the next test starts with those that were there."""
    loggers = [logging.getLogger(name) for name in ("", "hoodie", "hudi_services")]
    before = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that load Airflow or reach the S3 server are marked as such, so that none is forgotten. Half of the rows
    of both table types are deep, of tests of both versions and of statements. `make quick` takes a few rows of each test."""
    folders = {path: set(path.parents) for path in {item.path for item in items} if UNIT in path.parents}
    own = [item for item in items if item.path in folders]
    for item in own:
        if AIRFLOW in folders[item.path] or "s3" in getattr(item, "fixturenames", ()):
            item.add_marker("process")
    leave_out_crosses(own)
    statements = [item for item in own if SQL in folders[item.path]]
    leave_out_types(statements, "statements are planned before a table of either type gets the rows", asked="kind")
    users = [item for item in own if not folders[item.path].isdisjoint(ABOVE)]
    leave_out_types(users, "the tests of the library's own parts have both types")
    if config.getoption("--hypothesis-profile") == "quick":
        cases: dict[str, list[pytest.Item]] = {}
        for item in items:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
        few = {item for same in cases.values() for item in same[:: -(-len(same) // QUICK_CASES)]}
        config.hook.pytest_deselected(items=[item for item in items if item not in few])
        items[:] = [item for item in items if item in few]
