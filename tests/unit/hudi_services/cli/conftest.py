"""Tables and a source for the command line."""

from __future__ import annotations

import shutil

import pytest

from hoodie.clock import SystemClock
from tests.support.cli import deliver, fill
from tests.support.tables import create


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(SystemClock, "sleep", lambda _self, _seconds: None)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("filled") / "trips"
    fill(create(path))
    return path


@pytest.fixture
def path(filled, tmp_path):
    """A table of three commits: the slice of the first may be cleaned."""
    return shutil.copytree(filled, tmp_path / "trips")


@pytest.fixture
def land(tmp_path):
    """A source with one file."""
    folder = tmp_path / "land"
    deliver(folder, "dt=2024-01-01/x.parquet", [("b", "q", 1, 1)])
    return folder
