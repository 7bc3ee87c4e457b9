"""The command `unlock`: removes locks that nobody holds any more."""

from __future__ import annotations

import click

from hoodie.table import HoodieTable
from hoodie.transaction.lock import break_lock, held_locks


@click.command()
@click.option("--target-base-path", required=True, help="Path or URL of the table.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def unlock(target_base_path: str, yes: bool) -> None:
    """Remove locks that dead writers and services on other machines have left."""
    storage = HoodieTable.open(target_base_path).storage
    locks = held_locks(storage)
    if not locks:
        click.echo("the table is not locked")
        return
    for path, holder in locks.items():
        click.echo(f"the lock {path} says: {' '.join(holder.split())}")
    if not yes:
        click.confirm("Is whoever holds it certainly gone?", abort=True)
    for path in locks:
        break_lock(storage, path)
    click.echo("removed the lock")
