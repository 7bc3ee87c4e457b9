"""The command `undelete`: shows what cleans have set aside, and puts it back."""

from __future__ import annotations

import json

import click

from hoodie.config import laid_over
from hudi_services.cli.flags import (
    CONTEXT,
    chosen_table,
    json_flag,
    option_flags,
    table_flags,
    verbose_flag,
    with_examples,
)
from hudi_services.cli.properties import merged_options
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.result import DONE, finish
from hudi_services.runtime.terminal import echo


def _undelete(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    clean: str | None,
    partitions: tuple[str, ...],
    everything: bool,
    props: str | None,
    conf: tuple[str, ...],
    explain: bool,
    as_json: bool,
) -> int:
    from hoodie.engine import LocalEngine  # loads Arrow
    from hoodie.services.undelete.service import Undelete
    from hudi_services.cli.commands.undelete_task import UndeleteTask
    from hudi_services.operations.history.recording import carried_out_recorded, delivered

    if everything and (clean is not None or partitions):
        raise click.UsageError("--all contradicts --clean and --partition: keep one")
    if not (explain or everything or clean is not None or partitions):
        raise click.UsageError("say what is put back: --clean, --partition or --all; --explain shows what there is")
    chosen = chosen_table(target_base_path, table, registry)
    options = laid_over(merged_options(props, conf), chosen.common)
    task = UndeleteTask(chosen.base_path, Undelete(clean, partitions), options)
    if explain:
        decision = task.explain(LocalEngine())
        echo(json.dumps(decision.as_dict("undelete"), indent=2) if as_json else decision.as_text("undelete"))
        return DONE
    recorded = recorded_table(chosen.entry)
    with delivered(recorded):
        result = carried_out_recorded(recorded, "undelete", chosen.base_path, task, LocalEngine())
        return finish(result, as_json, None)


undelete = click.Command(
    "undelete",
    callback=_undelete,
    params=[
        *table_flags(),
        click.Option(["--clean"], metavar="INSTANT", help="Files that this clean has set aside."),
        click.Option(
            ["--partition", "partitions"], multiple=True, metavar="PATH", help="Only of this partition. Repeatable."
        ),
        click.Option(["--all", "everything"], is_flag=True, help="All that is there."),
        *option_flags(),
        click.Option(["--explain"], is_flag=True, help="Print what can be put back and change nothing."),
        json_flag("Print the plan or the result as JSON."),
        verbose_flag(),
    ],
    help="Put back files that a clean has set aside (hoodie.delete.grace.hours). Older versions of rows can be read again; what "
    "the table holds now stays as it is. Needs no Spark.",
    epilog=with_examples(
        (
            "hudi-services undelete --table orders --explain",
            "hudi-services undelete --table orders --clean 20260301060000123",
            "hudi-services undelete --table orders --partition order_date=2026-01-31",
        )
    ),
    context_settings=CONTEXT,
)
