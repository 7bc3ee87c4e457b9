"""A service of a test is explained, scheduled and run by its value alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.config.groups import OptionGroup
from hoodie.config.key import ConfigKey, integer, resolve
from hoodie.errors import ConfigError, PendingInstantError
from hoodie.services.decision import Decision
from hoodie.services.inline import InlineServices, at_once, scheduled, scheduled_and_executed
from hoodie.services.service import Scheduled, Service
from hoodie.services.stages import Item, Items
from hoodie.timeline import Action
from hoodie.view import TableView
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

KEPT = ConfigKey[int]("hoodie.test.expire.kept", integer(1), 1, "partitions that stay, the last in the alphabet")
EXPIRE_OPTIONS = OptionGroup("clean", (KEPT,))


@dataclass(frozen=True)
class Seen:
    """A stage that only this service has."""

    partitions_seen: int
    bytes_seen: int


@dataclass(frozen=True)
class Expire:
    """Old partitions go. This one only decides."""

    name: str = "expire partitions"
    options: OptionGroup = EXPIRE_OPTIONS
    expired: list[str] = field(default_factory=list)

    def decide(self, state, options, clock):
        kept = resolve(options, self.options.keys)[KEPT]
        view = TableView(state)
        slices = sorted(view.latest(), key=lambda each: each.partition)
        old = [each for each in slices if each.partition in sorted({s.partition for s in slices})[:-kept]]
        seen = Seen(len({each.partition for each in slices}), sum(s.size for s in slices))
        return Decision(
            tuple(each.partition for each in old) or None,
            f"{kept} partitions stay",
            (
                seen,
                Items("drop", old, sum(each.size for each in old), item=lambda s: Item(s.partition, s.size, "is old")),
            ),
        )

    def run(self, access, options):
        plan = self.decide(access.state(), options, access.clock).plan
        self.expired.extend(plan or ())
        return plan

    def report(self, done):
        return f"{len(done or ())} partitions are old", None


@dataclass(frozen=True)
class Measure:
    """In two steps: the plan holds the number of commits, and its execution remembers it."""

    name: str = "measure"
    action: Action = Action.INDEXING
    options: OptionGroup = EXPIRE_OPTIONS
    seen: list[Any] = field(default_factory=list)

    def decide(self, state, options, clock, *, force=False, cache=None):
        commits = len(state.timeline.commits)
        return Decision(commits if commits > 1 or force else None, f"{commits} commits")

    def encode(self, plan):
        return f"{plan} commits".encode()

    def execute(self, access, time, options):
        state = access.state()
        if not any(pending.time == time for pending in state.timeline.pending):
            raise PendingInstantError(f"{time} does not wait")
        path = state.layout.requested_path(time, self.action)
        self.seen.append(access.storage.read(path))
        access.storage.delete(path)
        return time


@pytest.fixture
def table(tmp_path) -> HoodieTable:
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([("a", "2024", 1, 1), ("b", "2025", 1, 1), ("c", "2026", 1, 1)]), "insert", SMALL_BLOOM)
    return table


def test_it_is_explained(table):
    assert isinstance(Expire(), Service)
    assert not isinstance(Expire(), Scheduled)
    decision = table.explain(Expire(), {KEPT.name: 2})
    size = table.file_slices()[0].size
    assert decision.plan == ("part=2024",)
    assert decision.as_text("expire").splitlines() == [
        "expire: 2 partitions stay",
        "partitions seen: 3",
        f"bytes seen: {decision.facts['bytes_seen']:,}",
        f"  {size:>14,} bytes  part=2024  is old",
        f"plan {decision.digest}",
        f"would drop 1 file, {size:,} bytes; nothing was changed",
    ]
    assert decision.as_dict("expire") == {
        "service": "expire",
        "reason": "2 partitions stay",
        "partitions_seen": 3,
        "bytes_seen": decision.facts["bytes_seen"],
        "bytes": size,
        "files": [{"path": "part=2024", "bytes": size, "reason": "is old"}],
        "verb": "drop",
        "noun": "file",
        "digest": decision.digest,
    }
    assert table.explain(Expire(), {KEPT.name: 3}).plan is None


def test_it_takes_its_own_options_and_no_others(table):
    assert table.explain(Expire(), {KEPT.name: 3, "hoodie.parquet.compression.codec": "zstd"}).plan is None
    with pytest.raises(ConfigError, match="give a whole number"):
        table.explain(Expire(), {KEPT.name: "many"})
    with pytest.raises(ConfigError, match="is not known here"):
        table.explain(Expire(), {"hoodie.test.expire.keep": 3})


def test_it_runs(table):
    expire = Expire()
    assert table.run(expire) == ("part=2024", "part=2025")
    assert expire.expired == ["part=2024", "part=2025"]


def test_it_follows_a_write(table):
    expire, measure = Expire(), Measure()
    steps = (
        at_once(expire, counts=True),
        at_once(expire, counts=True, without=[KEPT]),
        scheduled(measure, counts=False),
        scheduled_and_executed(measure, counts=False),
    )
    outcomes = InlineServices({KEPT.name: 2}, steps).run(table.access)
    assert [each.message for each in outcomes] == [
        "1 partitions are old", "2 partitions are old", "1 commits", "1 commits"
    ]  # fmt: skip
    assert {each.service for each in outcomes} == {"expire partitions", "measure"}
    table.write(batch([("a", "2024", 2, 2)]), "upsert", SMALL_BLOOM)
    first, second = InlineServices({}, steps[2:]).run(table.access)
    assert first.message == f"scheduled {first.instant}; 2 commits"
    assert second.message == f"executed {first.instant}, {second.instant}; 2 commits"


def test_its_plan_waits_on_the_timeline_until_it_is_carried_out(table):
    measure = Measure()
    assert isinstance(measure, Scheduled)
    assert table.schedule(measure) is None
    one, two, three = (table.schedule(measure, force=True) for _ in range(3))
    assert [(pending.time, pending.action) for pending in table.timeline.pending] == [
        (time, Action.INDEXING) for time in (one, two, three)
    ]
    assert table.run(COMPACTION) == [], "the plans of others are left alone"
    assert table.run(measure, time=two) == [two]
    assert table.run(measure) == [one, three]
    assert measure.seen == [b"1 commits"] * 3
    with pytest.raises(PendingInstantError, match=two):
        table.run(measure, time=two)
    with pytest.raises(ConfigError, match="expire partitions has no plans that wait"):
        table.run(Expire(), time=two)
