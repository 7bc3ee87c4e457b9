"""The command `advise`: what is wrong with tables or waits there, and what fixes it."""

from __future__ import annotations

import json
from dataclasses import replace

import click

from hudi_services.cli.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.runtime.terminal import echo, text_width

_AT_ONCE = 8


def _advise(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    at_once: int,
    with_exit_code: bool,
    as_json: bool,
) -> int:
    from hoodie.clock import SystemClock  # these load Arrow
    from hudi_services.operations.advice.gather import Request
    from hudi_services.operations.advice.model import by_severity, exit_code
    from hudi_services.operations.advice.rounds import Histories, of_source, of_table, rounds
    from hudi_services.operations.advice.text import as_text

    clock = SystemClock()
    now = clock.now()
    if target_base_path is None and table is None:
        advised = rounds(read_registry(registry_file(registry)), at_once, clock, registry)
    else:
        chosen = chosen_table(target_base_path, table, registry)
        entry = chosen.entry
        runs = Histories(now).runs_of(entry) if entry is not None else None
        of_chosen = of_table(Request(chosen, registry, runs), clock)
        server = of_source(entry, read_registry(registry_file(registry)), now, registry) if entry is not None else ()
        advised = [replace(of_chosen, advice=by_severity((*of_chosen.advice, *server)))]
    code = exit_code([advice for table_advice in advised for advice in table_advice.advice])
    if as_json:
        tables = [
            {
                "table": table_advice.name,
                "base_path": table_advice.base_path or None,
                "looked_at": list(table_advice.looked),
                "advice": [advice.as_dict(now) for advice in table_advice.advice],
            }
            for table_advice in advised
        ]
        echo(json.dumps({"exit_code": code, "at": now.isoformat(), "tables": tables}, indent=2))
    else:
        echo(as_text(advised, now, text_width()))
    return code if with_exit_code else 0


advise = click.Command(
    "advise",
    callback=_advise,
    params=[
        *table_flags(),
        click.Option(
            ["--at-once"],
            type=click.IntRange(min=1, max=64),
            default=_AT_ONCE,
            show_default=True,
            metavar="N",
            help="How many tables of a registry are looked at at the same time.",
        ),
        click.Option(
            ["--exit-code", "with_exit_code"],
            is_flag=True,
            help="End with 2 for damage or a loss, with 1 for other advice, with 0 for none.",
        ),
        json_flag(),
        verbose_flag(),
    ],
    help="Say what is wrong with a table or waits there, what fixes it, what that costs and why nothing starts it, the gravest "
    "first. Without --table and --target-base-path it looks at every table of the registry. It changes nothing and opens no data "
    "file.\n\nA table that cannot be read is advice, too. The exit code is 0 without --exit-code.",
    epilog=with_examples(
        ("hudi-services advise --table orders", "hudi-services advise --registry tables.yaml --json --exit-code")
    ),
    context_settings=CONTEXT,
)
