"""Tables of both types in the oldest and the newest version, for services that treat them differently."""

from __future__ import annotations

import pytest

from tests.support.clock import FakeClock
from tests.support.tables import create
from tests.support.templates import Templates


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    return Templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def empty(request, version, tmp_path):
    """A table without commits."""
    return create(
        tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": request.param}
    )
