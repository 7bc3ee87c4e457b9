"""A table of eight commits, of both types."""

from __future__ import annotations

import pytest

from tests.support.long_timelines import fill


@pytest.fixture
def table(empty, templates):
    return templates.filled(empty, fill)
