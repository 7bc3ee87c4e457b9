"""The command `purge`: shows what holds the rows of a person, asks, and erases them from every file."""

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
from hudi_services.entry.digest import confirmation_flag
from hudi_services.entry.retention import options_of_purge
from hudi_services.entry.source import FolderSource, TopicSource
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.result import DONE, SERVICE_FAILED, finish
from hudi_services.runtime.terminal import echo


def _purge(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    where: str,
    delete_savepoints: bool,
    past_consumers: bool,
    quarantine_path: str | None,
    props: str | None,
    conf: tuple[str, ...],
    explain: bool,
    yes: str | None,
    as_json: bool,
) -> int:
    from hoodie.engine import LocalEngine  # loads Arrow
    from hoodie.services.purge.service import Purge
    from hudi_services.cli.commands.purge_task import PurgeTask
    from hudi_services.operations.history.recording import carried_out_recorded, delivered

    if as_json and yes is None and not explain:
        raise click.UsageError("--json cannot ask: add --yes, or --explain")
    chosen = chosen_table(target_base_path, table, registry)
    declared_options = options_of_purge(chosen.entry) if chosen.entry is not None else {}
    options = laid_over(merged_options(props, conf), declared_options)
    service = Purge(where, delete_savepoints, past_consumers)
    task, engine = PurgeTask(chosen.base_path, _quarantine(chosen, quarantine_path), service, options), LocalEngine()
    if explain or yes is None:
        decision = task.explain(engine)
        echo(json.dumps(decision.as_dict("purge"), indent=2) if as_json else decision.as_text("purge"))
        if explain:
            return DONE
        click.confirm("These rows cannot be brought back. Erase them?", abort=True)
        yes = decision.digest if decision.plan is not None else ""
    task = task.approved(yes)
    recorded = recorded_table(chosen.entry)
    with delivered(recorded):
        result = carried_out_recorded(recorded, "purge", chosen.base_path, task, engine)
        return finish(result, as_json, None) or (SERVICE_FAILED if result.blockers else DONE)


def _quarantine(chosen: ChosenTable, path: str | None) -> str:
    """The folder of the table's bad rows."""
    source = chosen.entry.source if chosen.entry is not None else None
    declared = source.quarantine.path if isinstance(source, FolderSource | TopicSource) else None
    return path or declared or f"{chosen.base_path.rstrip('/')}.quarantine"


purge = click.Command(
    "purge",
    callback=_purge,
    params=[
        *table_flags(),
        click.Option(["--where"], required=True, metavar="SQL", help="The rows to erase, such as \"id = 'c-4711'\"."),
        click.Option(["--delete-savepoints"], is_flag=True, help="Delete the savepoints that hold the rows."),
        click.Option(["--past-consumers"], is_flag=True, help="Do not wait for consumers to read the deletion."),
        click.Option(
            ["--quarantine-path"], help="Folder of bad rows. [default: the registry's, or <table>.quarantine]"
        ),
        *option_flags(),
        click.Option(["--explain"], is_flag=True, help="Print what would be erased and change nothing."),
        confirmation_flag(),
        json_flag("Print the plan or the result as JSON."),
        verbose_flag(),
    ],
    help="Erase rows from every file of a table: delete, rewrite, clean, and search every file. Run it again after a kill. Exit "
    "code 3: something still holds them. Needs no Spark.",
    epilog=with_examples(
        (
            "hudi-services purge --table customers --where \"id = 'c-4711'\" --explain",
            "hudi-services purge --table customers --where \"id = 'c-4711'\" --yes",
        )
    ),
    context_settings=CONTEXT,
)
