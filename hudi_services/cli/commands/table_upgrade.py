"""The command `table upgrade`: shows what an upgrade changes and what holds it back, asks, and upgrades the table."""

from __future__ import annotations

import json
import sys

import click

from hoodie.config import laid_over
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
from hudi_services.entry.digest import only_flag
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.result import DONE, finish
from hudi_services.runtime.terminal import echo


def _upgrade(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    to: str,
    despite: tuple[str, ...],
    conf: tuple[str, ...],
    explain: bool,
    yes: bool,
    only: str | None,
    as_json: bool,
) -> int:
    from hoodie.engine import LocalEngine  # loads Arrow
    from hoodie.services.obstacle import refuse
    from hoodie.services.upgrade.plan import held
    from hoodie.services.upgrade.service import Upgrade
    from hudi_services.cli.commands.upgrade_task import UpgradeTask
    from hudi_services.operations.history.recording import carried_out_recorded, delivered

    approved = yes or only is not None
    if not explain and not approved and (as_json or not sys.stdin.isatty()):
        raise click.UsageError("No terminal can answer: add --yes or --plan DIGEST, or --explain for the plan")
    chosen = chosen_table(target_base_path, table, registry)
    options = laid_over(merged_options(None, conf), chosen.common)
    task, engine = UpgradeTask(chosen.base_path, Upgrade(int(to), despite, only), options), LocalEngine()
    if explain or not approved:
        decision = task.explain(engine)
        echo(json.dumps(decision.as_dict("upgrade"), indent=2) if as_json else decision.as_text("upgrade"))
        if explain:
            return DONE
        refuse(f"The upgrade of table {chosen.base_path}", held(decision), ())
        if decision.plan is not None:
            click.confirm("Programs that know only the old version cannot read the table then. Upgrade it?", abort=True)
            task = task.approved(decision.digest)
    recorded = recorded_table(chosen.entry)
    with delivered(recorded):
        return finish(carried_out_recorded(recorded, "upgrade", chosen.base_path, task, engine), as_json, None)


upgrade = click.Command(
    "upgrade",
    callback=_upgrade,
    params=[
        *table_flags(),
        click.Option(["--to"], required=True, type=click.Choice(("8", "9")), help="The table version."),
        click.Option(
            ["--despite"],
            multiple=True,
            type=click.Choice(("merging",)),
            help="Pass over obstacles of this kind. Repeatable.",
        ),
        single_option_flag(),
        click.Option(["--explain"], is_flag=True, help="Print the plan and change nothing."),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        only_flag(),
        json_flag("Print the plan or the result as JSON."),
        verbose_flag(),
    ],
    help="Upgrade a table to a later version: its timeline, archive and properties change, and no data file does. A kill leaves "
    "the old version or the new one: run the command again. Writers and services at work, pending instants, logs that are not "
    "compacted, and merge rules that the new version does not have hold it back.",
    epilog=with_examples(
        (
            "hudi-services table upgrade --table orders --to 9 --explain",
            "hudi-services table upgrade --target-base-path /data/lake/orders --to 9 --plan 328a05deea66",
        )
    ),
    context_settings=CONTEXT,
)
