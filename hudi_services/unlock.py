"""The command `unlock`: removes locks that nobody holds any more."""

from __future__ import annotations

import json

import click

from hudi_services.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples


def _unlock(target_base_path: str | None, table: str | None, registry: str | None, yes: bool, as_json: bool) -> None:
    from hoodie.table import HoodieTable  # loads Arrow
    from hoodie.transaction.locks import break_lock, held_locks

    if as_json and not yes:
        raise click.UsageError("--json asks nobody: pass --yes with it when whoever holds the lock is certainly gone")
    storage = HoodieTable.open(chosen_table(target_base_path, table, registry).base_path).storage
    locks = held_locks(storage)
    if not as_json:
        _confirm(locks, yes)
    for path in locks:
        break_lock(storage, path)
    if as_json:
        click.echo(json.dumps({"removed": [{"path": path, "holder": held} for path, held in locks.items()]}, indent=2))
    elif locks:
        click.echo("removed the lock")


def _confirm(locks: dict[str, str], yes: bool) -> None:
    if not locks:
        click.echo("the table is not locked")
    for path, holder in locks.items():
        click.echo(f"the lock {path} says: {' '.join(holder.split())}")
    if locks and not yes:
        click.confirm("Is whoever holds it certainly gone?", abort=True)


unlock = click.Command(
    "unlock",
    callback=_unlock,
    params=[
        *table_flags(),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        json_flag("Print what was removed as JSON."),
        verbose_flag(),
    ],
    help="Remove locks that dead writers and services on other machines have left.",
    epilog=with_examples(("hudi-services show locks --table orders", "hudi-services unlock --table orders")),
    context_settings=CONTEXT,
)
