"""Tables whose changes are read."""

from __future__ import annotations

import pytest

from tests.support.clock import FakeClock
from tests.support.tables import create

TABLES = [("9", "COPY_ON_WRITE"), ("6", "COPY_ON_WRITE"), ("9", "MERGE_ON_READ"), ("6", "MERGE_ON_READ")]


@pytest.fixture(params=TABLES, ids=" ".join)
def table(request, tmp_path):
    version, kind = request.param
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    return create(tmp_path / "t", FakeClock(), **options)
