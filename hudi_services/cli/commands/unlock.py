"""The command `unlock`: removes locks without a living holder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from hudi_services.cli.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:
    from hoodie.transaction.locks import FoundLock


def _unlock(
    target_base_path: str | None, table: str | None, registry: str | None, yes: bool, force: bool, as_json: bool
) -> None:
    from hoodie.table import HoodieTable  # loads Arrow
    from hoodie.transaction.locks import break_lock, found_locks
    from hoodie.transaction.locks.servers import server_lock
    from hudi_services.operations.inspect.locks import lock_row
    from hudi_services.operations.inspect.table_look import locking_of

    if as_json and not (yes or force):
        raise click.UsageError("--json cannot prompt: add --yes if the process that holds the lock has certainly ended")
    chosen = chosen_table(target_base_path, table, registry)
    opened = HoodieTable.open(chosen.base_path)
    server = server_lock(opened.storage.base_path, locking_of(chosen.entry))
    elsewhere = server.find(opened.clock) if server is not None else None
    locks = [*found_locks(opened.storage, opened.clock), *([elsewhere] if elsewhere is not None else [])]
    if not as_json:
        for lock in locks:
            echo(_lock_text(lock))
        if not locks:
            echo("the table is not locked")
    if not force:
        _refuse_living(locks)
    if locks and not (yes or force):
        click.confirm("Has the process that holds it certainly ended?", abort=True)
    removed = [
        lock
        for lock in locks
        if (server.remove(lock) if server is not None and lock is elsewhere else break_lock(opened.storage, lock))
    ]
    others = [lock.path for lock in locks if lock not in removed]
    if as_json:
        rows = [{**lock_row(lock), "said": lock.content.decode(errors="replace")} for lock in removed]
        echo(json.dumps({"removed": rows, "changed_hands": others}, indent=2))
        return
    if removed:
        echo("removed the lock")
    for path in others:
        echo(f"the lock {path} was given back, or is another's by now: it stays as it is")


def _lock_text(lock: FoundLock) -> str:
    from hoodie.times import span

    owner = lock.owner
    holder = (
        f"process {owner.pid} of {owner.host} ({owner.purpose})" if owner is not None else lock.owner_text or "(empty)"
    )
    age = f", {span(lock.age)} old" if lock.age is not None else ""
    expiry = (
        f", which runs out in {span(lock.expires_in)}" if lock.expires_in is not None and lock.expires_in > 0 else ""
    )
    state = {
        True: "it is at work",
        False: "it is gone, and the next writer takes the lock over",
        None: "whether it lives cannot be seen from here",
    }[lock.alive]
    return f"the lock {lock.path}{age}{expiry}, is held by: {holder}; {state}"


def _refuse_living(locks: list[FoundLock]) -> None:
    from hoodie.errors import LockHeldError

    living = next((lock for lock in locks if lock.alive), None)
    if living is not None:
        raise LockHeldError(
            f"The holder of the lock {living.path} is at work on this machine",
            found=_lock_text(living),
            fix="wait for it or end it; `hudi-services unlock --force` takes the lock away, and its work is lost",
        )


unlock = click.Command(
    "unlock",
    callback=_unlock,
    params=[
        *table_flags(),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        click.Option(["--force"], is_flag=True, help="Also of processes that are at work; they complete nothing."),
        json_flag("Print what was removed as JSON."),
        verbose_flag(),
    ],
    help="Remove locks that dead writers and services on other machines have left.",
    epilog=with_examples(("hudi-services show locks --table orders", "hudi-services unlock --table orders")),
    context_settings=CONTEXT,
)
