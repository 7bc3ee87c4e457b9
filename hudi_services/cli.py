"""One program with a subcommand a service. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a service after the commit failed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import datetime

import click

from hoodie.config import Service, own_options
from hoodie.config.table_keys import VERSION
from hoodie.errors import ConfigError
from hoodie.table import HoodieTable
from hoodie.transaction.lock import break_lock, held_locks
from hoodie.write.plan import chosen_operation
from hudi_services.bootstrap import bootstrap
from hudi_services.catalogue import options
from hudi_services.compact import compact
from hudi_services.explain import clean_as_dict, ingest_as_dict, print_plan
from hudi_services.failures import TOLD, tell
from hudi_services.ingest.plan import Window
from hudi_services.ingest.prepare import prepare
from hudi_services.ingest.request import IngestRequest
from hudi_services.ingest.run import run_ingest
from hudi_services.options import Common, common_options, source_folder
from hudi_services.result import DONE, ServiceResult, finish
from hudi_services.show import show
from hudi_services.sync import sync

_DAY = click.DateTime(formats=["%Y-%m-%d"])


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def cli() -> None:
    """Table services for Apache Hudi tables."""


@cli.command()
@common_options
@click.option("--source-path", help="Folder of files to load; sub folders are searched too. [required]")
@click.option("--source-format", type=click.Choice(["parquet", "csv", "json"]), default="parquet", show_default=True)
@click.option("--source-date-pattern", help="Where paths carry their date, for instance dt=%Y-%m-%d.")
@click.option("--from", "start", type=_DAY, help="First date to load.")
@click.option("--to", "end", type=_DAY, help="First date not to load.")
@click.option("--operation", type=click.Choice(["upsert", "insert", "bulk_insert", "delete"]), help="[default: upsert]")
@click.option("--reload", is_flag=True, help="Load files of the range again although they were loaded before.")
@click.option("--start-fresh", is_flag=True, help="Forget what was loaded from this source: every file counts as new.")
@click.option("--quarantine-path", help="Folder for rows that cannot be loaded. [default: <table>.quarantine]")
@click.option(
    "--max-bad-share", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Tolerated share of bad rows."
)
@click.option("--create-table-version", type=click.Choice(["6", "9"]), help="Version of the table if it is created.")
def ingest(
    common: Common,
    source_path: str | None,
    source_format: str,
    source_date_pattern: str | None,
    start: datetime | None,
    end: datetime | None,
    operation: str | None,
    reload: bool,
    start_fresh: bool,
    quarantine_path: str | None,
    max_bad_share: float,
    create_table_version: str | None,
) -> int:
    """Load new files of a folder into a table, exactly once; the table is created when it is not there.

    Exit code 3: the files are loaded, but a service that the options ask for after the commit failed.
    """
    options: dict[str, object] = {**common.options}
    if create_table_version is not None:
        given = options.setdefault(VERSION.name, create_table_version)
        if given != create_table_version:
            raise ConfigError(
                "--create-table-version contradicts another option",
                found=f"{create_table_version} and {VERSION.name}={given}",
                fix="keep one of them",
            )
    if start is not None and end is not None and start >= end:
        raise ConfigError(
            "The date range is empty", found=f"--from {start:%Y-%m-%d} --to {end:%Y-%m-%d}", fix="--to is exclusive"
        )
    request = IngestRequest(
        base_path=common.base_path,
        source_path=source_folder(source_path, options),
        source_format=source_format,
        operation=chosen_operation(operation, options),
        date_pattern=source_date_pattern,
        window=Window(start.date() if start else None, end.date() if end else None),
        reload=reload,
        start_fresh=start_fresh,
        quarantine_path=quarantine_path,
        max_bad_share=max_bad_share,
        options=options,
    )
    runner = common.open_engine("hudi ingest")
    if common.explain:
        print_plan(ingest_as_dict(prepare(request, runner)), common.as_json)
        return DONE
    return finish(run_ingest(request, runner), common.as_json, common.result_path)


@cli.command()
@common_options
def clean(
    common: Common,
) -> None:
    """Remove file slices that no retained view of the table needs."""
    begun = time.monotonic()
    chosen = own_options(common.options, Service.CLEAN)
    table = HoodieTable.open(common.base_path, engine=common.open_engine("hudi clean"))
    if common.explain:
        print_plan(clean_as_dict(table.explain_clean(chosen)), common.as_json)
        return
    run = table.clean(chosen)
    planned = run.decision.plan
    deleted = f"{run.files_deleted} files removed; " if run.results else "nothing to do: "
    result = ServiceResult(
        "clean",
        message=deleted + run.decision.reason,
        instant=run.results[-1].start if run.results else None,
        files_deleted=run.files_deleted,
        bytes_deleted=planned.bytes if planned else 0,
        seconds=time.monotonic() - begun,
    )
    finish(result, common.as_json, common.result_path)


@cli.command()
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


cli.add_command(bootstrap)
cli.add_command(compact)
cli.add_command(sync)
cli.add_command(show)
cli.add_command(options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code. Errors go to standard error in one line that says what to do."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = cli.main(args=given, prog_name="hudi-services", standalone_mode=False)
    except TOLD as error:
        return tell(error, as_json="--json" in given)
    return code or DONE


if __name__ == "__main__":
    sys.exit(main())
