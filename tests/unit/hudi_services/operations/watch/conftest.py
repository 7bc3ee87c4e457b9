"""A snapshot store, and tables of each type and version."""

from __future__ import annotations

import pytest

from hudi_services.operations.watch.store import SnapshotStore
from tests.support.clock import FakeClock
from tests.support.tables import create

KINDS = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("9", "6")]


@pytest.fixture
def store(tmp_path):
    return SnapshotStore.open(str(tmp_path / "watch" / "store.db"), make=True)


@pytest.fixture(params=KINDS, ids=["-".join(each) for each in KINDS])
def table(request, tmp_path):
    kind, version = request.param
    return create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
