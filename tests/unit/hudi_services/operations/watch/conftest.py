"""A snapshot store, and tables of each type and version."""

from __future__ import annotations

import pytest

from hudi_services.operations.watch.store import SnapshotStore
from tests.support.clock import FakeClock
from tests.support.tables import create


@pytest.fixture
def store(tmp_path):
    return SnapshotStore.open(str(tmp_path / "watch" / "store.db"), make=True)


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def kind(request):
    return request.param


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture
def table(kind, version, tmp_path):
    return create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
