"""The commands of `consumer`: move a named consumer of a table, and delete it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from hudi_services.cli.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.consumer import Consumer


def _reset(
    name: str, target_base_path: str | None, table: str | None, registry: str | None, to: str, as_json: bool
) -> None:
    position = _consumer(name, target_base_path, table, registry).reset(to)
    if as_json:
        echo(json.dumps({"consumer": name, "position": position}, indent=2))
    else:
        echo(f"consumer {name!r} goes on {f'after {position}' if position is not None else 'from the first commit'}")


def _delete(name: str, target_base_path: str | None, table: str | None, registry: str | None, as_json: bool) -> None:
    deleted = _consumer(name, target_base_path, table, registry).delete()
    if as_json:
        echo(json.dumps({"deleted": name if deleted else None}, indent=2))
    else:
        echo(f"deleted consumer {name!r}" if deleted else f"there is no consumer {name!r}")


def _consumer(name: str, target_base_path: str | None, table: str | None, registry: str | None) -> Consumer:
    from hoodie.table import HoodieTable

    return HoodieTable.open(chosen_table(target_base_path, table, registry).base_path).consumer(name)


consumer = click.Group(
    "consumer",
    help="Move or delete a named consumer of a table's changes. `show consumers` lists them.",
    context_settings=CONTEXT,
    commands=[
        click.Command(
            "reset",
            callback=_reset,
            params=[
                click.Argument(["name"]),
                *table_flags(),
                click.Option(
                    ["--to"],
                    required=True,
                    metavar="TIME",
                    help="earliest, latest, or an instant, date or time (UTC): the last commit that was complete then.",
                ),
                json_flag(),
                verbose_flag(),
            ],
            help="Move a consumer, forward or back, or make it. It reads the changes after the new position next.",
            epilog=with_examples(("hudi-services consumer reset dashboard --to latest --table orders",)),
            context_settings=CONTEXT,
        ),
        click.Command(
            "delete",
            callback=_delete,
            params=[click.Argument(["name"]), *table_flags(), json_flag(), verbose_flag()],
            help="Forget a consumer: cleaning and archiving keep nothing for it any more.",
            epilog=with_examples(("hudi-services consumer delete dashboard --table orders",)),
            context_settings=CONTEXT,
        ),
    ],
)
