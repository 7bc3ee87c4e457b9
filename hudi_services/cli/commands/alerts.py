"""The command `alerts`: current troubles of the tables, and the hooks that have reports of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from hoodie.errors import ConfigError
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, wide_flag, with_examples
from hudi_services.registry.load import Reading, read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.registry.mistakes import as_error, lines_of

if TYPE_CHECKING:
    from hudi_services.entry.alerts import Alerts
    from hudi_services.operations.inspect.page import Page


def _alerts(registry: str | None, store: str | None, test: bool, as_json: bool) -> int:
    from hudi_services.cli.render import print_page

    file = registry_file(registry)
    reading = read_registry(file)
    if reading.registry.alerts is None:
        if reading.mistakes:
            raise as_error(str(file), reading.mistakes)
        raise ConfigError(
            f"The registry {file} has no section alerts", fix="add the section: docs/how-to/alerts.md has an example"
        )
    if test:
        return print_page(_tested(reading.registry.alerts), as_json=as_json)
    return print_page(_current_troubles(reading, reading.registry.alerts, store), as_json=as_json)


def _tested(alerts: Alerts) -> Page:
    from hoodie.clock import SystemClock
    from hudi_services.operations.alerts.message import body_of, trial_values
    from hudi_services.operations.alerts.send import send_all
    from hudi_services.operations.inspect.page import Facts, Page

    values = trial_values(SystemClock().now())
    answers = send_all([(hook, body_of(hook, values)) for hook in alerts.hooks], os.environ)
    result = {hook.name: wrong for hook, wrong in zip(alerts.hooks, answers, strict=True)}
    lines = [(name, "it was taken" if wrong is None else f"NOT taken: {wrong}") for name, wrong in result.items()]
    return Page({"hooks": result}, [Facts(lines)], [wrong for wrong in answers if wrong is not None])


def _current_troubles(reading: Reading, alerts: Alerts, store: str | None) -> Page:
    from hoodie.clock import SystemClock
    from hudi_services.entry.alert_rules import told_of, warnings
    from hudi_services.operations.alerts.advice import standing_advice
    from hudi_services.operations.alerts.conditions import joined
    from hudi_services.operations.alerts.evaluation import by_tasks, standing_runs, standing_tables
    from hudi_services.operations.alerts.lag import standing_streams
    from hudi_services.operations.alerts.ledger import noticed
    from hudi_services.operations.alerts.server_lag import standing_servers
    from hudi_services.operations.alerts.store import AlertStore
    from hudi_services.operations.alerts.topic_lag import standing_topics
    from hudi_services.operations.inspect.page import Column, Facts, Lines, Listing, Page, Part
    from hudi_services.operations.inspect.text import moment, plain
    from hudi_services.operations.watch.location import store_of
    from hudi_services.operations.watch.store import SnapshotStore

    now = SystemClock().now()
    opened = SnapshotStore.open(store or store_of(reading.registry))
    registry = reading.registry
    looks = standing_tables(alerts, opened, now), standing_streams(alerts, registry, opened, now)
    observation = joined(
        [
            *looks,
            standing_advice(alerts, registry, opened, now),
            standing_servers(alerts, registry, now),
            standing_topics(alerts, registry, opened, now),
            standing_runs(alerts, registry, now),
            by_tasks(alerts, registry),
        ]
    )
    hooks = [hook.name for hook in alerts.hooks]
    rows: dict[str, dict[str, Any]] = {}
    for notice in noticed(AlertStore.open(opened).rows(), observation, hooks, now):
        if notice.ended_at is None:
            trouble = notice.trouble
            row = rows.setdefault(
                trouble.key,
                {
                    "table": trouble.table,
                    "kind": trouble.kind,
                    "what": trouble.what,
                    "text": trouble.text,
                    "since": trouble.since.isoformat() if trouble.since is not None else None,
                    "told": {},
                },
            )
            row["told"][notice.hook] = notice.told_at.isoformat() if notice.told_at is not None else None
    result = sorted(rows.values(), key=lambda row: (row["table"], row["kind"], row["what"]))
    columns = (
        Column("table", "table"),
        Column("kind", "kind"),
        Column("since", "since (UTC)", moment),
        Column("untold", "not yet sent", rank=2),
        Column("text", "what", rank=0, wraps=True),
    )
    table_rows = [
        {
            **row,
            "table": plain(row["table"]),
            "text": " ".join(row["text"].split()),
            "untold": ", ".join(name for name, delivered_at in row["told"].items() if delivered_at is None),
        }
        for row in result
    ]
    looked = opened.rounded_at()
    mistakes = lines_of(reading.mistakes)
    tables = reading.registry.tables
    facts = [("reported conditions", ", ".join(told_of(alerts, tables)) or "nothing")]
    parts: list[Part] = [
        Facts([*facts, ("last round of the watcher", moment(looked.isoformat()) if looked else "none yet")])
    ]
    parts += [Lines(hardly, "probable mistakes")] if (hardly := list(warnings(alerts, tables))) else []
    parts += [Lines(mistakes, "tables that are left out", alarming=True)] if mistakes else []
    parts.append(Listing(columns, table_rows, empty="no troubles"))
    values = {"round_at": looked.isoformat() if looked else None, "standing": result, "mistakes": mistakes}
    return Page(values, parts, [*mistakes, *(row["text"] for row in result)])


alerts = click.Command(
    "alerts",
    callback=_alerts,
    params=[
        registry_flag(),
        click.Option(
            ["--store"],
            metavar="PLACE",
            help="The watcher's store. [default: watch.store of the registry, or .watch/ beside it]",
        ),
        click.Option(["--test"], is_flag=True, help="Send a test message to each hook instead."),
        json_flag(),
        wide_flag(),
        verbose_flag(),
    ],
    help="List the current troubles of the registry's tables, by its section `alerts` and the watcher's last round, and the "
    "hooks that have not received them yet. `hudi-services watch` sends the messages.\n\nExit code 1: there is a trouble, the "
    "registry has mistakes, or a hook has not accepted a test.",
    epilog=with_examples(("hudi-services alerts --registry tables.yaml", "hudi-services alerts --test")),
    context_settings=CONTEXT,
)
