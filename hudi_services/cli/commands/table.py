"""The commands of `table`: drop, move, copy, upgrade and recover a whole table, with a plan and a question."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from hoodie.config import laid_over, select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.display import counted, size_of
from hudi_services.cli.commands.table_recovery import recover
from hudi_services.cli.commands.table_upgrade import upgrade
from hudi_services.cli.flags import (
    CONTEXT,
    chosen_table,
    json_flag,
    single_option_flag,
    table_flags,
    verbose_flag,
    with_examples,
)
from hudi_services.cli.properties import merged_options
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # they load Arrow
    from hoodie.clock import Clock
    from hoodie.services.obstacle import Obstacle
    from hoodie.services.relocation.plan import RelocationPlan
    from hoodie.storage import Storage
    from hoodie.transaction.concurrency_options import ConcurrencyOptions
    from hoodie.transaction.locks import Locking

_KINDS = {"drop": ("consumers", "savepoints", "registry", "catalogs"), "move": ("registry", "catalogs"), "copy": ()}
_DONE = {"drop": "dropped", "move": "moved", "copy": "copied"}


@dataclass(frozen=True)
class _Place:
    """A table, the other place of a copy or move, and what a change of it needs."""

    storage: Storage
    target: Storage | None
    clock: Clock
    locking: Locking
    sharing: ConcurrencyOptions

    @property
    def other(self) -> Storage:
        assert self.target is not None, "click requires --to"
        return self.target


def _plan(action: str, at: _Place) -> RelocationPlan:
    from hoodie.services.relocation.copy import plan_copy
    from hoodie.services.relocation.drop import plan_drop
    from hoodie.services.relocation.move import plan_move

    if action == "drop":
        return plan_drop(at.storage, at.clock, at.sharing)
    return (plan_move if action == "move" else plan_copy)(at.storage, at.other, at.clock, at.sharing)


def _run(action: str, at: _Place, despite: Sequence[str]) -> None:
    from hoodie.services.relocation.copy import run_copy
    from hoodie.services.relocation.drop import run_drop
    from hoodie.services.relocation.move import run_move

    if action == "drop":
        run_drop(at.storage, at.clock, at.locking, at.sharing, despite)
    else:
        (run_move if action == "move" else run_copy)(at.storage, at.other, at.clock, at.locking, at.sharing)


def _called(action: str) -> Callable[..., None]:
    def called(
        target_base_path: str | None,
        table: str | None,
        registry: str | None,
        conf: tuple[str, ...],
        explain: bool,
        yes: bool,
        as_json: bool,
        to: str | None = None,
        despite: tuple[str, ...] = (),
    ) -> None:
        from hoodie.clock import SystemClock
        from hoodie.services.obstacle import refuse
        from hoodie.storage import open_storage
        from hoodie.transaction.concurrency_options import ConcurrencyOptions
        from hoodie.transaction.locks import Locking
        from hudi_services.cli.commands.table_references import references
        from hudi_services.operations.history.manual import by_hand

        if not explain and not yes and (as_json or not sys.stdin.isatty()):
            raise click.UsageError("No terminal can answer: add --yes, or --explain for the plan")
        chosen = chosen_table(target_base_path, table, registry)
        keys = (*LOCK_KEYS, *SHARING_KEYS)
        options = resolve(select_keys(laid_over(merged_options(None, conf), chosen.common), keys), keys)
        at = _Place(
            open_storage(chosen.base_path),
            open_storage(to) if to is not None else None,
            SystemClock(),
            Locking.of(options),
            ConcurrencyOptions.of(options),
        )
        plan = _plan(action, at)
        table_references = list(references(chosen.base_path, registry)) if action != "copy" else []
        obstacles = [*plan.obstacles, *(() if plan.continued else table_references)]
        if explain or not yes:
            echo(_as_json(action, plan, obstacles) if as_json else _as_text(action, plan, obstacles, despite))
        if explain:
            return
        refuse(f"The {action} of table {plan.base_path}", obstacles, despite)
        if not yes:
            click.confirm(f"{_QUESTIONS[action]}?", abort=True)
        with by_hand(recorded_table(chosen.entry), action, chosen.base_path) as say:
            _run(action, at, despite)
            summary = f"{_DONE[action]} table {plan.base_path}{f' to {to}' if to else ''}: {_sum(plan)}"
            say(summary)
        echo(_as_json(action, plan, ()) if as_json else summary)

    return called


_QUESTIONS = {
    "drop": "Nothing of the table can be brought back. Drop it",
    "move": "Writers and readers have to use the new place from now on. Move the table",
    "copy": "Writers wait until the copy is done. Copy the table",
}


def _as_text(action: str, plan: RelocationPlan, obstacles: Sequence[Obstacle], despite: Sequence[str]) -> str:
    to = f" to {plan.target}" if plan.target is not None else ""
    notes = ["It was begun before, and goes on."] if plan.continued else []
    marks = [f"{'passed over' if obstacle.kind in despite else 'held back'}: {obstacle}" for obstacle in obstacles]
    return "\n".join(
        [f"{action} of table {plan.base_path}{to}", *notes, *marks, f"would {action} {_sum(plan)}; nothing was changed"]
    )


def _as_json(action: str, plan: RelocationPlan, obstacles: Sequence[Obstacle]) -> str:
    return json.dumps(
        {"action": action, **asdict(plan), "obstacles": [asdict(obstacle) for obstacle in obstacles]}, indent=2
    )


def _sum(plan: RelocationPlan) -> str:
    return f"{counted(plan.files, 'file')}, {size_of(plan.bytes)}"


def _command(action: str, help: str, examples: tuple[str, ...]) -> click.Command:
    kinds = _KINDS[action]
    to = click.Option(["--to"], required=True, metavar="PATH", help="The new place: an empty path or URL.")
    despite = click.Option(
        ["--despite"], multiple=True, type=click.Choice(kinds), help="Pass over obstacles of this kind. Repeatable."
    )
    return click.Command(
        action,
        callback=_called(action),
        params=[
            *table_flags(),
            *([] if action == "drop" else [to]),
            *([despite] if kinds else []),
            single_option_flag(),
            click.Option(["--explain"], is_flag=True, help="Print the plan and change nothing."),
            click.Option(["--yes"], is_flag=True, help="Do not ask."),
            json_flag("Print the plan or the result as JSON."),
            verbose_flag(),
        ],
        help=help,
        epilog=with_examples(examples),
        context_settings=CONTEXT,
    )


table = click.Group(
    "table",
    help="Drop, move, copy or upgrade a whole table, or make its lost properties again. Run a command again after a kill: it "
    "goes on.",
    context_settings=CONTEXT,
    commands=[
        _command(
            "drop",
            "Delete a table and all files in its folder. The first step makes it unreadable. Nothing outside of the folder is "
            "deleted. Writers and services at work, consumers, savepoints, entries of the registry, synced catalogs, links, and "
            "tables inside of the folder hold it back.",
            (
                "hudi-services table drop --target-base-path /data/lake/old_orders --explain",
                "hudi-services table drop --target-base-path /data/lake/old_orders --yes --despite savepoints",
            ),
        ),
        _command(
            "move",
            "Move a table to another place: a folder of the same disk is renamed, otherwise the table is copied and then "
            "dropped. Writers and services at work, pending plans, entries of the registry and synced catalogs hold it back.",
            ("hudi-services table move --target-base-path /data/lake/orders --to /data/archive/orders --yes",),
        ),
        _command(
            "copy",
            "Copy a table to another place, under its lock. The copy is complete or no table at all. It has the history of the "
            "table, without its consumers. Writers and services at work and pending plans hold it back.",
            ("hudi-services table copy --table orders --to s3://bucket/orders_copy --yes",),
        ),
        upgrade,
        recover,
    ],
)
