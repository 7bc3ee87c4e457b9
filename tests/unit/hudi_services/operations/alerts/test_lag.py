"""Streams that are behind, by the watcher's look at the table that they follow."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.lag import behind, standing_streams
from hudi_services.operations.watch.model import Snapshot, Summary
from hudi_services.registry.load import load_registry

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LIMIT = timedelta(minutes=15)
HOOKS = [{"name": "ops", "url": "https://example.org/x"}]
FINE = Summary("orders", "/t", "ok", NOW - timedelta(minutes=1), last_commit=NOW, instants=3)
REGISTRY = """
tables:
  - {name: orders, base_path: /lake/orders}
  - {name: copy, base_path: /lake/copy, keys: {record_key: id}, stream: {table: orders}}
  - {name: far, base_path: /lake/far, keys: {record_key: id}, stream: {path: /lake/other}}
"""


def seen(seconds, commits=2, consumer="stream-copy", **summary):
    row = {"consumer": consumer, "commits_behind": commits, "seconds_behind": seconds}
    return Snapshot(replace(FINE, **summary), {"table": {"consumers": [row]}})


def test_the_first_commit_that_waits_counts():
    """It has waited for a minute more than at the last look."""
    (trouble,) = behind("copy", "orders", LIMIT, seen(14 * 60), NOW).troubles
    assert (trouble.kind, trouble.table, trouble.what) == ("lag", "copy", "orders")
    assert trouble.since == NOW - LIMIT
    assert "2 commits of orders" in trouble.text
    for fine in (seen(13 * 60), seen(9999, commits=0), seen(9999, consumer="stream-other")):
        assert behind("copy", "orders", LIMIT, fine, NOW).troubles == ()


@pytest.mark.parametrize("look", [None, seen(9999, health="unreadable"), seen(9999, health="absent")])
def test_nothing_is_known_without_a_look_at_the_source(look):
    found = behind("copy", "orders", LIMIT, look, NOW)
    assert found.troubles == ()
    assert not found.knows(Trouble("lag", "copy", "orders", "", None))
    assert found.knows(Trouble("lag", "orders", "orders", "", None))


def test_streams_that_follow_tables_of_the_registry(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY)
    asked = []

    class Store:
        def table(self, name):
            asked.append(name)
            return seen(9999)

    wanted = Alerts.model_validate({"hooks": HOOKS, "lag": "15m"})
    found = standing_streams(wanted, load_registry(file), Store(), NOW)
    assert [(each.kind, each.table) for each in found.troubles] == [("lag", "copy")]
    assert asked == ["orders"]
    silent = standing_streams(Alerts.model_validate({"hooks": HOOKS}), load_registry(file), Store(), NOW)
    assert silent.troubles == ()
    assert asked == ["orders"], "nothing is read for it"
