"""The command `history`: the last runs of services, and what they cost and gained."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from hoodie.errors import ConfigError
from hudi_services.cli.flags import (
    CONTEXT,
    chosen_table,
    json_flag,
    registry_flag,
    verbose_flag,
    wide_flag,
    with_examples,
)
from hudi_services.entry.table import History
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.registry.mistakes import as_error

if TYPE_CHECKING:  # it loads Arrow
    from hudi_services.operations.inspect.page import Page


def _history(
    table: str | None,
    service: str | None,
    since: str,
    limit: int,
    path: str | None,
    registry: str | None,
    as_json: bool,
) -> int:
    from hoodie.clock import SystemClock
    from hudi_services.cli.render import print_page
    from hudi_services.operations.history.queries import since_when

    now = SystemClock().now()
    first = since_when(since, now)
    if path is not None and registry is not None:
        raise click.UsageError("--registry has no effect with --path")
    histories = [History(path=path)] if path is not None else _registered(table, registry)
    return print_page(_page(histories, first, now, limit, table, service), as_json=as_json)


def _registered(table: str | None, registry: str | None) -> list[History]:
    """The histories of the registry, or of one of its tables. Raises ConfigError where there is none."""
    if table is not None:
        entry = chosen_table(None, table, registry).entry
        values = [entry.history] if entry is not None and entry.history is not None else []
    else:
        file = registry_file(registry)
        reading = read_registry(file)
        histories = (other_table.history for other_table in reading.registry.tables)
        values = list(
            {table_history.path: table_history for table_history in histories if table_history is not None}.values()
        )
        if not values and reading.mistakes:
            raise as_error(str(file), reading.mistakes)
    if not values:
        whose = f"table {table}" if table is not None else "any table"
        raise ConfigError(
            f"The registry names no history for {whose}", fix="add `history: {path: …}` to it, or pass --path"
        )
    return values


def _page(
    histories: list[History], since: datetime, now: datetime, limit: int, table: str | None, service: str | None
) -> Page:
    import pyarrow as pa

    from hudi_services.cli.commands.history_page import history_page
    from hudi_services.operations.history.queries import runs, sums

    result = pa.concat_tables([runs(table_history, since, now, table, service) for table_history in histories])
    result = result.sort_by([("began", "descending"), ("run_id", "ascending")])
    return history_page(result.slice(0, limit), sums(result), since, result.num_rows)


history = click.Command(
    "history",
    callback=_history,
    params=[
        click.Option(["--table"], metavar="NAME", help="Only runs of this table."),
        click.Option(["--service"], metavar="NAME", help="Only runs of this service."),
        click.Option(
            ["--since"],
            default="7d",
            show_default=True,
            metavar="TIME",
            help="Runs that began at this date or time (UTC) or later; also today, yesterday, 12h, 7d.",
        ),
        click.Option(
            ["--limit"], type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="The newest N."
        ),
        click.Option(["--path"], metavar="PATH", help="The history at this path or URL, in place of the registry's."),
        registry_flag(),
        json_flag(),
        wide_flag(),
        verbose_flag(),
    ],
    help="The last runs of services, and by table and service what all of them since a time cost and gained. The registry says "
    "where the history is.",
    epilog=with_examples(
        ("hudi-services history --since 30d --service compact", "hudi-services history --table orders --json")
    ),
    context_settings=CONTEXT,
)
