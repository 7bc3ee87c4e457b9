"""The command `watch`: follows the tables of a registry, and fills the store that pages and triggers read."""

from __future__ import annotations

import json
import logging
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hoodie.errors import StoreError
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, with_examples
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.registry.mistakes import lines_of
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:
    from hudi_services.operations.alerts.rounds import AlertSender
    from hudi_services.operations.watch.model import Event
    from hudi_services.registry.load import Registry


_log = logging.getLogger(__name__)
_MOST = 100_000  # events that a round shows; the next one shows the others
_TOPICS_LAST = 60.0  # seconds that one round alone waits for the brokers of topics


def _watch(
    registry: str | None, store: str | None, once: bool, rebuild: bool, metrics: str | None, as_json: bool
) -> None:
    from hoodie.clock import SystemClock
    from hudi_services.operations.alerts.rounds import AlertSender
    from hudi_services.operations.watch.commits import facts_of
    from hudi_services.operations.watch.location import store_of
    from hudi_services.operations.watch.rounds import Round, Watcher
    from hudi_services.operations.watch.store import SnapshotStore
    from hudi_services.operations.watch.topics import TopicWatch

    file = registry_file(registry)
    place = store or store_of(read_registry(file).registry)
    opened = SnapshotStore.anew(place) if rebuild else SnapshotStore.open(place, make=True)
    if metrics is not None:
        from hudi_services.operations.watch.metrics import serve_metrics
        from hudi_services.operations.watch.server_metrics import ServerCollector
        from hudi_services.operations.watch.topic_metrics import TopicCollector

        servers, of_topics = (
            ServerCollector(lambda: read_registry(file), SystemClock()),
            TopicCollector(opened, SystemClock()),
        )
        _, address = serve_metrics(opened, metrics, servers, of_topics)
        echo(f"metrics: {address}", err=True)
    watcher, sender = Watcher(opened, SystemClock()), AlertSender(opened, SystemClock(), os.environ)
    topics = TopicWatch(opened, SystemClock(), os.environ)
    mistakes: tuple[Any, ...] = ()
    last = opened.last_number()
    while True:
        began, reading = time.monotonic(), read_registry(file)  # which may be edited at any time
        if reading.mistakes != mistakes:
            mistakes = reading.mistakes
            for line in lines_of(mistakes):
                echo(f"left out: {line}", err=True)
        try:
            watch_round = watcher.round(reading)
            topics.round(reading.registry)
            if once:
                topics.wait(_TOPICS_LAST)
            last = min(last, opened.last_number())  # a store that was emptied numbers its events from the start
            for event in opened.events(last, limit=_MOST):
                last = event.number
                echo(json.dumps(facts_of(event)) if as_json else _line(event))
            sent = _send_alerts(sender, reading.registry, once=once)
        except StoreError as error:
            if once:
                raise
            echo(f"tried again with the next round: {error}", err=True)
            watch_round, sent = Round(0, 0, ()), 0
        for name in watch_round.removed:
            echo(f"the registry has no table {name} any more: it is forgotten", err=True)
        if once:
            if not as_json:
                echo(f"looked at {watch_round.tables} tables, {watch_round.events} instants new to {opened.shown}")
                if reading.registry.alerts is not None:
                    echo(f"alerts: {sent} messages were taken")
            return
        time.sleep(max(0.0, reading.registry.watch.every - (time.monotonic() - began)))


def _send_alerts(sender: AlertSender, registry: Registry, *, once: bool) -> int:
    try:
        return sender.tell(registry)
    except StoreError:
        raise
    except Exception:  # any error of alerts: tables are followed on
        if once:
            raise
        _log.exception("Alerts are tried again with the next round")
        return 0
    finally:
        if once and registry.alerts is not None:
            sender.leave()


def _line(event: Event) -> str:
    facts = event.facts
    completed = datetime.fromisoformat(str(facts["completed"])).astimezone(UTC).isoformat(sep=" ", timespec="seconds")
    operation = str(facts.get("operation", event.action)).lower()
    rows = "".join(
        f", {facts[f'rows_{kind}']:,} rows {kind}"
        for kind in ("inserted", "updated", "deleted")
        if facts.get(f"rows_{kind}")
    )
    return f"{completed.replace('+00:00', ' UTC')}  {event.table}  {event.instant}  {operation}{rows}"


watch = click.Command(
    "watch",
    callback=_watch,
    params=[
        registry_flag(),
        click.Option(
            ["--store"],
            metavar="PLACE",
            help="A SQLite file, or a URL of SQLAlchemy's. [default: watch.store of the registry, or .watch/ beside it]",
        ),
        click.Option(["--once"], is_flag=True, help="One round, then end."),
        click.Option(["--rebuild"], is_flag=True, help="Empty the store first, also one of another release."),
        click.Option(
            ["--metrics"],
            metavar="[HOST:]PORT",
            help="Also answer Prometheus there, to this machine only, with a gauge for each fact of each table.",
        ),
        json_flag("Print each event as a JSON object a line."),
        verbose_flag(),
    ],
    help="Follow the timelines of all tables of the registry, and keep a snapshot of each in a store that pages and triggers "
    "read. Each completed instant of any writer is reported once, except those before the first look at a table. If the "
    "registry has a section `alerts`, its hooks receive new troubles after each round.",
    epilog=with_examples(
        ("hudi-services watch --registry tables.yaml", "hudi-services watch --registry tables.yaml --once --json")
    ),
    context_settings=CONTEXT,
)
