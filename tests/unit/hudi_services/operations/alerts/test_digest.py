"""The digest comes once a day, by a clock of its zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest

from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.digest import digest_day, digest_values
from hudi_services.operations.alerts.rounds import AlertSender
from hudi_services.operations.watch.model import Cursor, Summary
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry
from tests.support.clock import FakeClock
from tests.support.hooks import serving


@pytest.mark.parametrize(
    ("zone", "now", "day"),
    [
        ("UTC", datetime(2026, 1, 2, 7, 59, tzinfo=UTC), date(2026, 1, 1)),
        ("UTC", datetime(2026, 1, 2, 8, 0, tzinfo=UTC), date(2026, 1, 2)),
        ("Europe/Berlin", datetime(2026, 1, 2, 7, 0, tzinfo=UTC), date(2026, 1, 2)),
        ("Europe/Berlin", datetime(2026, 7, 2, 5, 59, tzinfo=UTC), date(2026, 7, 1)),
        ("Europe/Berlin", datetime(2026, 7, 2, 6, 0, tzinfo=UTC), date(2026, 7, 2)),
        ("Pacific/Auckland", datetime(2026, 1, 2, 19, 0, tzinfo=UTC), date(2026, 1, 3)),
    ],
)
def test_the_day_of_a_zone(zone, now, day):
    assert digest_day(time(8), zone, now) == day


def test_it_is_sent_once_a_day_and_again_where_it_was_not_taken(tmp_path):
    store, clock = SnapshotStore.open(str(tmp_path / "s.db"), make=True), FakeClock()  # at midnight
    now = clock.now()
    store.save(Cursor("0"), Summary("orders", "/t", "ok", now, last_commit=now - timedelta(days=9)))
    store.save(Cursor("0"), Summary("later", "/l", "absent", now))
    with serving() as server:
        section = {"hooks": [{"name": "ops", "url": server.address}], "digest": "08:00", "late": "1h", "repeat": "99d"}
        registry = Registry("tables.yaml", alerts=Alerts.model_validate(section))
        teller = AlertSender(store, clock, {})
        assert teller.tell(registry) == 1, "what began, and no digest yet"
        clock.sleep(8 * 3600)
        server.statuses = [500]
        assert teller.tell(registry) == 0
        server.statuses = [200]
        server.got.clear()
        assert [teller.tell(registry), teller.tell(registry)] == [1, 0]
        clock.sleep(3 * 24 * 3600)
        assert [teller.tell(registry), teller.tell(registry)] == [1, 0], (
            "those that no watcher was there for are not made up"
        )
    assert [(each["kind"], each["day"]) for each in server.got] == [("digest", "2026-01-01"), ("digest", "2026-01-04")]
    assert server.got[0]["tables"] == {"ok": 1, "absent": 1}
    assert [(each["table"], each["kind"]) for each in server.got[0]["standing"]] == [("orders", "late")]


def test_a_long_day_says_how_much_is_left_out():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    standing = [Trouble("late", f"t\n{number}", "", "late", None) for number in range(40)]
    values = digest_values(now.date(), [], standing, now)
    lines = values["text"].splitlines()
    assert (lines[0], lines[1], lines[-1]) == (
        "2026-01-01: tables: none; 40 troubles",
        "t 0: late",
        "and 10 more: hudi-services alerts",
    )
    assert (len(lines), len(values["standing"])) == (32, 40)
    assert digest_values(now.date(), [], [], now)["text"].endswith("no troubles")
