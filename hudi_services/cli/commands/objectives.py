"""The command `objectives`: tables that miss an objective of the registry, and the service that restores each."""

from __future__ import annotations

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
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.registry.mistakes import as_error, lines_of

_AT_ONCE = 8


def _objectives(table: str | None, registry: str | None, at_once: int, missed: bool, as_json: bool) -> int:
    from hoodie.clock import SystemClock
    from hudi_services.cli.render import print_page
    from hudi_services.operations.inspect.objectives import COLUMNS, in_words, verdict_rows
    from hudi_services.operations.inspect.page import Column, Lines, Listing, Page, Part
    from hudi_services.operations.objectives.rounds import rounds

    entry = chosen_table(None, table, registry).entry if table is not None else None
    file = registry_file(registry)
    reading = read_registry(file) if entry is None else None
    mistakes = reading.mistakes if reading is not None else ()
    tables = (entry,) if entry is not None else reading.registry.tables if reading is not None else ()
    judged = rounds(tables, at_once, SystemClock())
    if not judged and mistakes:
        raise as_error(str(file), mistakes)
    if not judged:
        raise ConfigError(
            "No table has objectives", fix="say what is to hold in the registry: `objectives: {freshness: 1h}`"
        )
    rows = [{"table": judgement.table, **row} for judgement in judged for row in verdict_rows(judgement.verdicts)]
    rows = [row for row in rows if not (missed and row["met"])]
    rows.sort(key=lambda row: (-row["urgency"], row["table"], row["objective"]))
    errors = {judgement.table: judgement.error for judgement in judged if judgement.error is not None}
    problems = [*lines_of(mistakes), *(f"{name}: {error}" for name, error in errors.items())]
    parts: list[Part] = [Lines(problems, "tables that cannot be looked at", alarming=True)] if problems else []
    columns = (Column("table", "table"), *COLUMNS)
    parts.append(Listing(columns, [in_words(row) for row in rows], empty="all objectives are met"))
    misses = [row["objective"] for row in rows if not row["met"]]
    page = Page(
        {
            "objectives": rows,
            "missed": len(misses),
            "errors": errors,
            "mistakes": [str(mistake) for mistake in mistakes],
        },
        parts,
        [*problems, *misses],
    )
    return print_page(page, as_json=as_json)


objectives = click.Command(
    "objectives",
    callback=_objectives,
    params=[
        click.Option(["--table"], metavar="NAME", help="Only of this table."),
        registry_flag(),
        click.Option(["--missed"], is_flag=True, help="Only those that are missed."),
        click.Option(
            ["--at-once"],
            type=click.IntRange(min=1, max=64),
            default=_AT_ONCE,
            show_default=True,
            metavar="N",
            help="How many tables are looked at at the same time.",
        ),
        json_flag(),
        wide_flag(),
        verbose_flag(),
    ],
    help="List the objectives of the registry's tables: met or missed, since when, and the service that restores each. The most "
    "urgent are first. It changes nothing and opens no data file.\n\nExit code 1: one is missed, or a table cannot be looked at.",
    epilog=with_examples(
        ("hudi-services objectives --table orders", "hudi-services objectives --registry tables.yaml --missed --json")
    ),
    context_settings=CONTEXT,
)
