"""What all tests of the services share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

AIRFLOW = Path(__file__).with_name("hoodie_airflow")


@pytest.fixture(autouse=True)
def without_flushing(monkeypatch):
    """No test here pulls the plug of the machine: files need not be forced to a disk that others use too."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that load Airflow or reach the S3 server are marked as such, so that none is forgotten."""
    for item in items:
        if AIRFLOW in item.path.parents or "s3" in getattr(item, "fixturenames", ()):
            item.add_marker("process")
