"""The command `restore`: shows what is lost, asks, and takes the table back."""

from __future__ import annotations

import json

import click

from hudi_services.commandline.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.commandline.properties import merged_options
from hudi_services.commandline.registered import laid_over
from hudi_services.outcome.result import DONE, finish


def _restore(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    savepoint: str,
    props: str | None,
    conf: tuple[str, ...],
    explain: bool,
    yes: bool,
    as_json: bool,
) -> int:
    from hoodie.engine import LocalEngine  # loads Arrow
    from hudi_services.commands.restore_task import RestoreTask
    from hudi_services.entry.call import carried_out

    if as_json and not (yes or explain):
        raise click.UsageError("--json asks nobody: pass --yes with it when what came after the savepoint is to go")
    chosen = chosen_table(target_base_path, table, registry)
    options = laid_over(merged_options(props, conf), chosen.lock)
    task, engine = RestoreTask(chosen.base_path, savepoint, options), LocalEngine()
    decision = task.explain(engine)
    if explain:
        click.echo(json.dumps(decision.as_dict("restore"), indent=2) if as_json else decision.as_text("restore"))
        return DONE
    if decision.plan is not None and not yes:
        click.echo(decision.as_text("restore"))
        click.confirm("What these instants wrote cannot be brought back. Restore the table?", abort=True)
    if decision.plan is not None:
        task = task.confirmed(decision)
    return finish(carried_out(task, engine), as_json, None)


restore = click.Command(
    "restore",
    callback=_restore,
    params=[
        *table_flags(),
        click.Option(["--savepoint"], required=True, metavar="INSTANT", help="The commit that is the last one then."),
        click.Option(["--props"], help="Properties file of hoodie.* options, a path or URL."),
        click.Option(["--hoodie-conf", "conf"], multiple=True, metavar="KEY=VALUE", help="One option. Repeatable."),
        click.Option(["--explain"], is_flag=True, help="Print what would be taken back and change nothing."),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        json_flag("Print the plan or the result as JSON."),
        verbose_flag(),
    ],
    help="Take a table back to a savepoint: all that came after its commit goes. Needs no Spark.",
    epilog=with_examples(
        (
            "hudi-services savepoint list --table orders",
            "hudi-services restore --table orders --savepoint 20260301060000123 --explain",
            "hudi-services restore --table orders --savepoint 20260301060000123",
        )
    ),
    context_settings=CONTEXT,
)
