"""The shared command of `restore` and `rollback`: it explains what goes, asks, and takes it back."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

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
from hudi_services.entry.retention import options_of
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.result import DONE, finish
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # they load Arrow
    from hoodie.table import HoodieTable
    from hudi_services.services.restore.execution import TakesBack


def take_back_command(
    name: str,
    named: click.Option,
    service: Callable[[str], TakesBack],
    *,
    question: str,
    newest: Callable[[HoodieTable], str] | None = None,
    help: str,
    examples: tuple[str, ...],
) -> click.Command:
    """The command `name`. The flag `named` says what is taken back, and `service` makes the service of that.

    If the flag is not given, `newest` says what is offered. Only a user at a terminal can agree to it.
    """

    def called(
        target_base_path: str | None,
        table: str | None,
        registry: str | None,
        props: str | None,
        conf: tuple[str, ...],
        explain: bool,
        skip_files: bool,
        yes: str | None,
        as_json: bool,
        **flag: str | None,
    ) -> int:
        from hoodie.engine import LocalEngine  # loads Arrow
        from hoodie.table import HoodieTable
        from hudi_services.operations.history.recording import carried_out_recorded, delivered
        from hudi_services.services.restore.execution import TakeBackTask

        if as_json and yes is None and not explain:
            raise click.UsageError("--json cannot prompt: add --yes or --explain")
        chosen = chosen_table(target_base_path, table, registry)
        declared_options = options_of(chosen.entry, "restore") if chosen.entry is not None else {}
        options = laid_over(merged_options(props, conf), declared_options)
        ((key, value),) = flag.items()
        engine = LocalEngine()
        target = value if value is not None or newest is None else newest(HoodieTable.open(chosen.base_path))
        assert target is not None, "click requires a flag that nothing stands for"
        task = TakeBackTask(chosen.base_path, service(target), options, skip_files)
        decision = task.explain(engine)
        if value is None and not explain and (yes is not None or not sys.stdin.isatty()):
            if not as_json:
                echo(decision.as_text(name))
            kept = " --skip-files" if skip_files else ""
            raise click.UsageError(
                f"Nothing was changed: run it again with --{key} {target}{kept} --yes to take this back"
            )
        if explain:
            echo(json.dumps(decision.as_dict(name), indent=2) if as_json else decision.as_text(name))
            return DONE
        if decision.plan is not None:
            if yes is None:
                echo(decision.as_text(name))
                click.confirm(question, abort=True)
            else:
                decision.allowed(name, chosen.base_path, agreed=yes)
            task = task.confirmed(decision)
        recorded = recorded_table(chosen.entry)
        with delivered(recorded):
            return finish(carried_out_recorded(recorded, name, chosen.base_path, task, engine), as_json, None)

    return click.Command(
        name,
        callback=called,
        params=[
            *table_flags(),
            named,
            *option_flags(),
            click.Option(["--explain"], is_flag=True, help="Print what would be taken back and change nothing."),
            click.Option(
                ["--skip-files"],
                is_flag=True,
                help="Keep the source files of these commits as loaded: the next run of the feed does not load them again.",
            ),
            confirmation_flag(),
            json_flag("Print the plan or the result as JSON."),
            verbose_flag(),
        ],
        help=help,
        epilog=with_examples(examples),
        context_settings=CONTEXT,
    )
