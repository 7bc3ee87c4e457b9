"""Crashes are injected between storage calls; the disk's own cache plays no part."""

import pytest

from tests.unit.conftest import without_flushing

__all__ = ["version", "without_flushing"]


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param
