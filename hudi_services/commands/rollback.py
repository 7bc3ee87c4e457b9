"""The command `rollback`: shows what goes with an instant, asks, and takes it back."""

from __future__ import annotations

import json

import click

from hudi_services.commandline.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.commandline.properties import merged_options
from hudi_services.commandline.registered import laid_over
from hudi_services.outcome.result import DONE, finish


def _rollback(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    instant: str,
    props: str | None,
    conf: tuple[str, ...],
    explain: bool,
    yes: bool,
    as_json: bool,
) -> int:
    from hoodie.engine import LocalEngine  # loads Arrow
    from hudi_services.commands.rollback_task import RollbackTask
    from hudi_services.entry.call import carried_out

    if as_json and not (yes or explain):
        raise click.UsageError("--json asks nobody: pass --yes with it when the instant is to be taken back")
    chosen = chosen_table(target_base_path, table, registry)
    options = laid_over(merged_options(props, conf), chosen.lock)
    task, engine = RollbackTask(chosen.base_path, instant, options), LocalEngine()
    decision = task.explain(engine)
    if explain:
        click.echo(json.dumps(decision.as_dict("rollback"), indent=2) if as_json else decision.as_text("rollback"))
        return DONE
    if decision.plan is not None and not yes:
        click.echo(decision.as_text("rollback"))
        click.confirm("What this instant wrote cannot be brought back. Roll it back?", abort=True)
    return finish(carried_out(task, engine), as_json, None)


rollback = click.Command(
    "rollback",
    callback=_rollback,
    params=[
        *table_flags(),
        click.Option(["--instant"], required=True, help="The last commit, or an instant that is not complete."),
        click.Option(["--props"], help="Properties file of hoodie.* options, a path or URL."),
        click.Option(["--hoodie-conf", "conf"], multiple=True, metavar="KEY=VALUE", help="One option. Repeatable."),
        click.Option(["--explain"], is_flag=True, help="Print the files that would go and change nothing."),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        json_flag("Print the plan or the result as JSON."),
        verbose_flag(),
    ],
    help="Take back the last commit, a write that did not complete, or what was begun of a plan. Needs no Spark.",
    epilog=with_examples(
        (
            "hudi-services rollback --table orders --instant 20260301060000123 --explain",
            "hudi-services rollback --table orders --instant 20260301060000123",
        )
    ),
    context_settings=CONTEXT,
)
