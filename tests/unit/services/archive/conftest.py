"""A table of eight commits, of both types."""

from __future__ import annotations

import pytest

from tests.support.long_timelines import written


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, version, tmp_path):
    return written(tmp_path / "t", **{"hoodie.write.table.version": version, "hoodie.table.type": request.param})
