"""Tables on their way through a run, without a server."""

from __future__ import annotations

import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, PendingInstantError, SourceUnavailableError, TablePausedError
from hudi_services.sources.cdc.cuts import Behind, Cut, TablePlace
from hudi_services.sources.cdc.mysql.follower import Follower, behind_of, by_target, find_places
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_batch import TargetCommits
from hudi_services.sources.cdc.mysql.target_table import TargetTable

NOW, EARLIER = "2026-01-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00"


@pytest.fixture
def follower(tmp_path):
    source = TableSource("shop", "d", "t")
    commits = TargetCommits(TargetTable(source, str(tmp_path / "t"), {}, LocalEngine(1)), None)
    return Follower(commits, source)


def cut(tables=None, behind=None):
    return Cut(7, "log.000002:900", "server 1, transactions 0-1-9, file of 5", NOW, tables or {}, behind or {})


def test_a_table_that_failed_takes_no_further_step(follower):
    steps = []
    follower.attempt(lambda: steps.append("first"))

    def fail():
        raise ConfigError("no", fix="do")

    follower.attempt(fail)
    follower.attempt(lambda: steps.append("never"))
    assert steps == ["first"]
    assert isinstance(follower.error, ConfigError)
    assert not follower.goes_on


def test_what_a_cut_says_of_a_table_that_fails(follower):
    follower.since = StoredPosition("shop/d.t", "log.000001:100", "a log")
    retried = behind_of(follower, SourceUnavailableError("gone", found="nothing", fix="wait"), None, NOW)
    assert retried == Behind("gone: nothing", "wait", NOW, False, "log.000001:100", "a log", "")
    before = cut(behind={"d.t": Behind("old", "", EARLIER, False, "", "", "")})
    assert behind_of(follower, PendingInstantError("other", fix="again"), before, NOW).since == EARLIER
    parked = behind_of(follower, ConfigError("wrong", fix="mend"), before, NOW)
    assert parked.parked
    assert parked.since == EARLIER
    assert not behind_of(follower, TablePausedError("paused", fix="wait"), None, NOW).parked, "the pause ends by itself"
    again = cut(behind={"d.t": Behind("old", "", EARLIER, True, "", "", "")})
    assert behind_of(follower, ConfigError("wrong", fix="mend"), again, NOW).since == NOW, "it was resumed in between"


def test_a_parked_table_waits_until_it_is_resumed(follower):
    before = cut(behind={"d.t": Behind("old", "", EARLIER, True, "log.000001:100", "a log", "")})
    find_places([follower], before, ())
    assert follower.parked is not None
    assert follower.position == "log.000001:100"
    other = Follower(follower.commits, follower.source)
    find_places([other], before, {"d.t"})
    assert other.goes_on
    assert other.lacks_rows
    assert by_target([follower, other]) == [[follower, other]]


def test_a_table_is_at_the_cut_only_while_its_last_commit_is_the_one_that_the_cut_knows(follower, monkeypatch):
    stored = StoredPosition("shop/d.t", "log.000001:100", "a log")
    monkeypatch.setattr(TargetTable, "stored_position", lambda self: stored)
    for known, expected in (("log.000001:100", "log.000002:900"), ("log.000001:50", "log.000001:100")):
        one = Follower(TargetCommits(follower.target, None), follower.source)
        find_places([one], cut({"d.t": TablePlace(follower.target.base_path, "1", known)}), ())
        assert one.position == expected
