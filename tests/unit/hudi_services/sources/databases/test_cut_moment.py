"""A transaction of a server and a cut at its place: nothing is compared where the tables are at another place."""

from __future__ import annotations

import pytest

from hoodie.errors import PendingInstantError
from hudi_services.sources.cdc.mysql.server_sync import ServerMoment
from hudi_services.sources.databases.cut_moment import behind_reason, cut_moment
from hudi_services.sources.databases.plan_sync import PlannedSync
from tests.unit.hudi_services.sources.databases.test_shard_verification import filled, make, server

__all__ = ["make", "server"]
pytestmark = pytest.mark.process


def test_the_cut_is_at_the_place_of_the_transaction(make):
    shards = filled(make())
    with cut_moment(shards.sync) as moment:
        assert moment.cut.position == str(moment.position)
        assert moment.at("shop/*").position == moment.cut.position
        shards.run("DELETE FROM s1")
        with moment.connection.cursor() as cursor:
            cursor.execute(f"SELECT COUNT(*) FROM {shards.database}.s1")
            assert cursor.fetchall() == ((40,),)
    assert behind_reason(moment.cut, "x.y") == "it is not loaded yet"


def test_tables_that_went_past_the_transaction_are_not_compared(make, monkeypatch):
    shards = filled(make())
    run = PlannedSync.run

    def further(self, *, until=None, **more):
        shards.run("UPDATE s1 SET n = n + 1")
        return run(self, until=None if isinstance(until, ServerMoment) else until, **more)

    monkeypatch.setattr(PlannedSync, "run", further)
    with pytest.raises(PendingInstantError, match="went past the moment"), cut_moment(shards.sync):
        pass
