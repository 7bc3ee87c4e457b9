"""The commands `pause` and `resume`: hold the services of a table back, and let them run again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from hudi_services.cli.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.storage import Storage


def _pause(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    reason: str,
    until: datetime | None,
    user: str | None,
    as_json: bool,
) -> None:
    from hoodie.clock import SystemClock
    from hoodie.transaction.locks.owner import user_name
    from hudi_services.runtime.pause import pause as put

    storage = _storage(target_base_path, table, registry)
    new_pause = put(storage, SystemClock(), user or user_name(), reason, until.replace(tzinfo=UTC) if until else None)
    echo(json.dumps({"paused": new_pause.as_dict()}, indent=2) if as_json else f"paused {new_pause}")


def _resume(target_base_path: str | None, table: str | None, registry: str | None, as_json: bool) -> None:
    from hudi_services.runtime.pause import resume as end

    ended_pause = end(_storage(target_base_path, table, registry))
    if as_json:
        echo(json.dumps({"resumed": ended_pause.as_dict() if ended_pause is not None else None}, indent=2))
    else:
        echo(f"resumed: it was paused {ended_pause}" if ended_pause is not None else "the table was not paused")


def _storage(target_base_path: str | None, table: str | None, registry: str | None) -> Storage:
    """The storage of a table that exists."""
    from hoodie.table import HoodieTable

    return HoodieTable.open(chosen_table(target_base_path, table, registry).base_path).storage


pause = click.Command(
    "pause",
    callback=_pause,
    params=[
        *table_flags(),
        click.Option(["--reason"], required=True, help="Why: shown wherever a service is held back."),
        click.Option(
            ["--until"],
            type=click.DateTime(["%Y-%m-%dT%H:%M", "%Y-%m-%d"]),
            metavar="TIME",
            help="When services run again by themselves, in UTC, such as 2026-03-01T06:00. [default: when it is resumed]",
        ),
        click.Option(["--user"], help="The user who pauses it. [default: the user who runs this]"),
        json_flag(),
        verbose_flag(),
    ],
    help="Hold back the services of a table, in Airflow and on every command line, until it is resumed.",
    epilog=with_examples(
        (
            'hudi-services pause --table orders --reason "the source is being migrated"',
            'hudi-services pause --table orders --reason "month end" --until 2027-01-01T06:00',
        )
    ),
    context_settings=CONTEXT,
)

resume = click.Command(
    "resume",
    callback=_resume,
    params=[*table_flags(), json_flag(), verbose_flag()],
    help="Let the services of a paused table run again.",
    epilog=with_examples(("hudi-services resume --table orders",)),
    context_settings=CONTEXT,
)
