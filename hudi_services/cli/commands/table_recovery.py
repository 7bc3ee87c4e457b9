"""The command `table recover`: makes `hoodie.properties` that are lost, torn, or of another table, again of the table's entry."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from hoodie.config import CREATE_KEYS, laid_over, select_keys
from hoodie.config.keys.table import VERSION
from hudi_services.cli.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.retention import options_of
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # they load Arrow
    from hoodie.config.properties.table import TableProperties
    from hoodie.doctor.properties_recovery import PropertiesRecovery
    from hudi_services.entry.table import Table


def _recover(
    target_base_path: str | None, table: str | None, registry: str | None, explain: bool, yes: bool, as_json: bool
) -> None:
    from hoodie.clock import SystemClock
    from hoodie.doctor.properties_recovery import REPLACED, plan_recovery, recover_properties_of
    from hoodie.storage import open_storage
    from hoodie.transaction.quarantine import FOLDER as QUARANTINE
    from hudi_services.operations.history.manual import by_hand
    from hudi_services.operations.inspect.table_look import locking_of

    if not explain and not yes and (as_json or not sys.stdin.isatty()):
        raise click.UsageError("No terminal can answer: add --yes, or --explain for the plan")
    chosen = chosen_table(target_base_path, table, registry)
    if chosen.entry is None:
        raise click.UsageError("Only an entry of the registry says which columns are keys: name it by --table")
    storage, clock = open_storage(chosen.base_path), SystemClock()
    plan = plan_recovery(storage, clock, _declared(chosen.entry))
    if explain or not yes:
        echo(_as_json(plan) if as_json else _as_text(plan))
    if explain:
        return
    if not yes:
        click.confirm("Is what no file shows right? Write the properties?", abort=True)
    with by_hand(recorded_table(chosen.entry), "recover", chosen.base_path) as say:
        recover_properties_of(storage, clock, plan, locking_of(chosen.entry))
        place = f"in {QUARANTINE}" if plan.flaw is not None else REPLACED
        kept = f"; the file that was there is now {place}" if plan.replaced is not None else ""
        summary = f"wrote hoodie.properties of {chosen.base_path}{kept}"
        say(summary)
    echo(_as_json(plan) if as_json else summary)


def _declared(entry: Table) -> TableProperties:
    """The properties of a table that the first load of this entry would make."""
    from hoodie.transaction.create import new_properties

    own = laid_over(entry.hoodie, {**options_of_new(entry, entry.keys), VERSION.name: str(entry.version)})
    return new_properties(select_keys(laid_over(options_of(entry, entry.loader), own), CREATE_KEYS))


def _as_text(plan: PropertiesRecovery) -> str:
    return "\n".join(
        [
            f"hoodie.properties of {plan.base_path}, as its entry in the registry makes them",
            *([f"  the file there is of another table: {plan.mismatch}"] if plan.mismatch else []),
            *([f"  the file there cannot be used: {plan.flaw}"] if plan.flaw else []),
            *(f"  the files agree: {fact}" for fact in plan.shown),
            *(f"  no file shows:   {fact}" for fact in plan.declared),
            *(f"    {line}" for line in _property_lines(plan)),
            "would write them; nothing was changed",
        ]
    )


def _property_lines(plan: PropertiesRecovery) -> list[str]:
    """Every property, and below one that is replaced what it was."""
    new, old = plan.properties.raw, plan.replaced.raw if plan.replaced is not None else plan.properties.raw
    lines = []
    for name in sorted({*new, *old}):
        if name in new:
            lines.append(f"{name}={new[name]}{f'  (was {old[name]})' if old.get(name, new[name]) != new[name] else ''}")
        else:
            lines.append(f"without {name}={old[name]}")
    return lines


def _as_json(plan: PropertiesRecovery) -> str:
    return json.dumps(
        {
            "base_path": plan.base_path,
            "properties": dict(plan.properties.raw),
            "shown": plan.shown,
            "declared": plan.declared,
            "mismatch": plan.mismatch,
            "flaw": plan.flaw,
            "replaced": dict(plan.replaced.raw) if plan.replaced is not None else None,
        },
        indent=2,
    )


recover = click.Command(
    "recover",
    callback=_recover,
    params=[
        *table_flags(),
        click.Option(["--explain"], is_flag=True, help="Print the plan and change nothing."),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        json_flag("Print the plan or the result as JSON."),
        verbose_flag(),
    ],
    help="Make hoodie.properties again that are lost or torn, or are those of another table. The table's entry in the registry "
    "says what they hold. The files are compared with it: "
    "timeline, type, name, columns, and keys and partitions of rows in up to 16 base files. It refuses an entry that "
    "they contradict, and shows what no file can prove: ordering, table version 8 or 9, and time zone. No other file changes.",
    epilog=with_examples(
        ("hudi-services table recover --table orders --explain", "hudi-services table recover --table orders --yes")
    ),
    context_settings=CONTEXT,
)
