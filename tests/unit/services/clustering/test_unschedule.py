"""A plan of clustering is given up, also one that was begun."""

from __future__ import annotations

import pytest

from hoodie import CLUSTERING, GiveUpClustering, Rollback
from hoodie.errors import (
    PendingInstantError,
)
from hoodie.services.clustering import execute
from tests.support.clustered import CONTENT, files_of
from tests.support.faulty import Killed
from tests.support.tables import SMALL_BLOOM, batch, content


@pytest.mark.parametrize("begun", [False, True])
def test_a_plan_is_given_up(table, monkeypatch, begun):
    time = table.schedule(CLUSTERING, force=True)
    if begun:
        monkeypatch.setattr(execute, "_clustered", written_and_killed)
        with pytest.raises(Killed):
            table.run(CLUSTERING, SMALL_BLOOM)
        assert files_of(table, time)
    table.run(GiveUpClustering(time))
    assert not table.timeline.pending
    assert not files_of(table, time)
    table.write(batch([("a", "p", 9, 99)]), "upsert", SMALL_BLOOM)
    assert content(table) == {**CONTENT, "a": ("p", 9, 99)}
    with pytest.raises(PendingInstantError, match=time):
        table.run(GiveUpClustering(time))


def test_what_was_begun_is_taken_back_without_the_plan(table, monkeypatch):
    time = table.schedule(CLUSTERING, force=True)
    with monkeypatch.context() as patch:
        patch.setattr(execute, "_clustered", written_and_killed)
        with pytest.raises(Killed):
            table.run(CLUSTERING, SMALL_BLOOM)
    table.run(Rollback(time))
    assert not files_of(table, time)
    assert [instant.time for instant in table.timeline.pending] == [time]
    (done,) = table.run(CLUSTERING, SMALL_BLOOM)
    assert done.instant.time == time
    assert content(table) == CONTENT


real_clustered = execute._clustered


def written_and_killed(*args):
    real_clustered(*args)
    raise Killed
