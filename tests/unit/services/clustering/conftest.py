"""A table of small files."""

from __future__ import annotations

import pytest

from tests.support.clustered import NO_SMALL_FILES
from tests.support.tables import batch


@pytest.fixture
def table(empty, templates):
    """Three file groups in partition p, one in q; on a merge-on-read table two of p have logs, with an update and a deletion."""
    return templates.filled(empty, _fill)


def _fill(empty):
    for rows in (
        [("a", "p", 1, 9), ("b", "p", 1, 7), ("z", "q", 1, 1)],
        [("c", "p", 1, 8), ("d", "p", 1, 1)],
        [("e", "p", 1, None)],
    ):
        empty.write(batch(rows), "insert", NO_SMALL_FILES)
    empty.write(batch([("a", "p", 2, 3)]), "upsert", NO_SMALL_FILES)
    empty.write(batch([("d", "p", 2, 0)]), "delete", NO_SMALL_FILES)
