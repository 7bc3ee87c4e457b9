"""The page of a server, as values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from hudi_services.operations.pages.fleet import dags_of, server_dags
from hudi_services.operations.pages.server import ServerPage, StateFolder, Verified, server_links, server_page
from hudi_services.operations.pages.snapshots import DagOutcome, FleetState
from hudi_services.operations.pages.state import State
from hudi_services.operations.pages.table import table_page
from hudi_services.operations.watch.model import Summary
from hudi_services.registry.load import Registry, read_registry
from hudi_services.sources.cdc.cuts import Behind, Cut, TablePlace
from hudi_services.sources.cdc.sync_progress import LogRetention, SyncProgress
from hudi_services.sources.databases.status import LoadedTable
from hudi_services.sources.databases.table_verifications import TableVerification
from tests.support.page_bodies import server_body

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
DAG = "hudi_database__shop"


def iso(minutes: int) -> str:
    return (NOW - timedelta(minutes=minutes)).isoformat()


CUT = Cut(
    3,
    "bin.000002:9",
    "",
    iso(1),
    {"shop.orders": TablePlace("/lake/orders", "20261126115900000", "bin.000002:9")},
    {"shop.items": Behind("TRUNCATE", "resume it", iso(90), True, "bin.000001:4", "", "bin.000001:4")},
)
PROGRESS = SyncProgress(iso(2), iso(1), iso(1), LogRetention(86_400, "bin.000001:4", iso(-120)))
SEEN = Summary("orders", "/lake/orders", "ok", NOW, NOW, verified_at=iso(5), verified_position="bin.000001:99")
KNOWN = FleetState(ran={DAG: DagOutcome("r1", "failed", NOW)}, seen={"orders": SEEN})


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    file = tmp_path / "tables.yaml"
    file.write_text(
        """
servers:
  shop: {type: mysql, connection: shop, server_id: 1, state: /lake/_state, schedule: "*/5 * * * *"}
  events: {type: kafka, connection: events}
tables:
  - {name: orders, base_path: /lake/orders, source: {server: shop, table: shop.orders}}
  - {name: items, base_path: /lake/items, source: {server: shop, table: shop.items}}
  - {name: clicks, base_path: /lake/clicks, keys: {record_key: id}, source: {server: events, topic: clicks, format: json}}
  - {name: other, base_path: /lake/other}
"""
    )
    reading = read_registry(file)
    assert not reading.mistakes
    return reading.registry


def page(registry: Registry, folder: StateFolder, seen: tuple[str, ...] = ("orders", "items")) -> ServerPage:
    made = server_page("shop", registry, seen, {DAG}, folder, KNOWN, NOW)
    json.dumps(asdict(made), allow_nan=False)
    return made


def test_a_server_has_its_cut_its_log_and_its_tables(registry: Registry) -> None:
    found = page(registry, StateFolder(CUT, PROGRESS))
    assert found.status is not None
    assert (found.status.cut, found.status.age, found.dag, found.hidden) == (3, 60, DAG, 0)
    assert found.run is not None
    assert (found.run.state, found.run.dag) == ("failed", DAG)
    items, orders = found.tables
    assert (orders.state, orders.verified_position, orders.last_commit) == ("current", "bin.000001:99", NOW.isoformat())
    assert (items.state, items.reason, items.fix, items.position) == ("parked", "TRUNCATE", "resume it", "bin.000001:4")
    titles = {state.title: state.command for state in found.states}
    assert titles == {
        "The server keeps its log for 2 h 0 min more": "hudi-services cdc check shop",
        "The table shop.items is parked": "hudi-services cdc sync shop --resume shop.items",
    }


def test_the_later_comparison_of_a_table_counts_and_actions_need_their_dags(registry: Registry) -> None:
    def compared(table: str, minutes: int, state: Literal["equal", "differs"], rows: int = 0) -> TableVerification:
        return TableVerification(table, state, 2, "bin.000001:50", iso(minutes), 9, rows)

    both = {
        one.table: one for one in (compared("shop.orders", 9, "differs", 3), compared("shop.items", 7, "differs", 3))
    }
    dags = {DAG, "hudi_database_resync__shop"}
    found = server_page(
        "shop", registry, ("orders", "items"), dags, StateFolder(CUT, PROGRESS, verified=both), KNOWN, NOW
    )
    items, orders = found.tables
    assert (orders.verified, orders.verified_cut, orders.verified_position) == ("equal", None, "bin.000001:99")
    assert (items.verified, items.verified_cut, items.differing, items.verified_at) == ("differs", 2, 3, iso(7))
    assert found.verified == Verified(1, iso(5), 1)
    assert (found.dag, found.verify, found.resync) == (DAG, None, "hudi_database_resync__shop")
    shards = tuple(LoadedTable(f"shop.b.s{number}", f"b.s{number}", "/lake/shards") for number in range(2))
    rows = page(
        registry, StateFolder(CUT, PROGRESS, (*shards, LoadedTable("orders", "shop.orders", "/lake/orders")))
    ).tables
    assert {row.table: row.merged for row in rows} == {"b.s0": True, "b.s1": True, "shop.orders": False}


@pytest.mark.parametrize(
    ("kept", "title"),
    [
        (LogRetention(86_400, "bin.000001:4", iso(1)), "may have removed its log from bin.000001:4 on"),
        (LogRetention(86_400, "bin.000001:4", None, without=True), "no longer has bin.000001:4"),
    ],
)
def test_a_log_that_a_table_may_miss_is_an_error(registry: Registry, kept: LogRetention, title: str) -> None:
    found = page(registry, StateFolder(CUT, replace(PROGRESS, kept=kept)))
    assert [state.severity for state in found.states if title in state.title] == ["error"]


def test_tables_that_the_user_may_not_see_are_counted_only(registry: Registry) -> None:
    found = page(registry, StateFolder(CUT, PROGRESS), ("orders",))
    assert ([table.name for table in found.tables], found.hidden) == (["orders"], 1)
    assert "items" not in repr(found)


def test_tables_of_rules_are_seen_by_readers_of_the_server_s_dag_alone(registry: Registry) -> None:
    by_rule = LoadedTable("shop.users", "shop.users", "/lake/users", "it has no key", "name a key")
    tables = (LoadedTable("orders", "shop.orders", "/lake/orders"), by_rule)
    found = page(registry, StateFolder(CUT, PROGRESS, tables))
    assert [(table.table, table.state, table.has_page) for table in found.tables] == [
        ("shop.orders", "current", True),
        ("shop.users", "refused", False),
    ]
    other = server_page("shop", registry, ["orders"], set(), StateFolder(CUT, PROGRESS, tables), KNOWN, NOW)
    assert ([table.name for table in other.tables], other.hidden, other.dag, other.run) == (["orders"], 1, None, None)


def states_of_nothing() -> Iterator[tuple[StateFolder, str]]:
    yield StateFolder(), "No run has stored a cut yet"
    yield StateFolder(trouble=State("warning", "cannot be read")), "cannot be read"


@pytest.mark.parametrize(("folder", "title"), states_of_nothing())
def test_a_server_without_a_cut_says_so(registry: Registry, folder: StateFolder, title: str) -> None:
    found = page(registry, folder)
    assert [state.title for state in found.states] == [title]
    assert {table.state for table in found.tables} == {"new"}


def test_a_kafka_server_lists_topics(registry: Registry) -> None:
    seen = {"clicks": Summary("clicks", "/lake/clicks", "missed", NOW, NOW, reason="freshness")}
    known = FleetState(ran={"hudi_ingest__clicks": DagOutcome("r", "success", NOW)}, seen=seen)
    found = server_page("events", registry, ["clicks"], set(), StateFolder(), known, NOW)
    (topic,) = found.topics
    assert (topic.topic, topic.state, topic.reasons, topic.last_commit) == (
        "clicks",
        "missed",
        ("freshness",),
        NOW.isoformat(),
    )
    assert ([run.run for run in topic.runs], found.status) == (["r"], None)


def test_servers_are_seen_by_their_tables_or_their_dag(registry: Registry) -> None:
    clicks = registry.table("clicks")
    assert clicks is not None
    assert [link.name for link in server_links(registry, [clicks], set())] == ["events"]
    assert [(link.name, link.tables) for link in server_links(registry, [], {DAG})] == [("shop", 0)]
    assert server_links(registry, [], set()) == ()


def test_a_table_leads_to_its_server_whose_dag_shows_it(registry: Registry) -> None:
    orders, other = registry.table("orders"), registry.table("other")
    assert orders is not None
    assert other is not None
    assert server_dags(orders) == {DAG}
    assert DAG not in dags_of(orders), "the table's own DAGs decide who may pause it"
    assert server_dags(other) == frozenset()
    found = table_page(orders, KNOWN, None, (), NOW).loaded_from
    assert found is not None
    assert (found.server, found.what) == ("shop", "the table shop.orders")
    assert table_page(other, KNOWN, None, (), NOW).loaded_from is None


@pytest.mark.parametrize(
    ("tables", "resumed", "note"), [(1100, 11, ""), (3000, 20, " The command resumes the first 20.")]
)
def test_the_command_resumes_all_parked_tables_or_says_how_many(
    tmp_path: Path, tables: int, resumed: int, note: str
) -> None:
    states = json.loads(server_body(tmp_path / "tables.yaml", tables, "TRUNCATE"))["states"]
    (parked,) = [state for state in states if state["title"].endswith(" parked")]
    assert parked["command"].count("--resume") == resumed
    assert parked["text"] == f"Runs leave parked tables out until a user resumes them.{note}"
