"""One program with a subcommand a service. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a service after the commit failed."""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from hudi_services import __version__
from hudi_services.cli.commands.advice import advise
from hudi_services.cli.commands.airflow import airflow
from hudi_services.cli.commands.alerts import alerts
from hudi_services.cli.commands.cdc import cdc
from hudi_services.cli.commands.completion import PROGRAM, completion
from hudi_services.cli.commands.consumer import consumer
from hudi_services.cli.commands.doctor import doctor
from hudi_services.cli.commands.folder import folder
from hudi_services.cli.commands.history import history
from hudi_services.cli.commands.infer import infer
from hudi_services.cli.commands.objectives import objectives
from hudi_services.cli.commands.options import options
from hudi_services.cli.commands.pause import pause, resume
from hudi_services.cli.commands.purge import purge
from hudi_services.cli.commands.registry_check import check_command
from hudi_services.cli.commands.restore import restore
from hudi_services.cli.commands.rollback import rollback
from hudi_services.cli.commands.savepoint import savepoint
from hudi_services.cli.commands.show import diff, show
from hudi_services.cli.commands.sql import sql
from hudi_services.cli.commands.table import table
from hudi_services.cli.commands.timeline_server import timeline_server
from hudi_services.cli.commands.undelete import undelete
from hudi_services.cli.commands.unlock import unlock
from hudi_services.cli.commands.watch import watch
from hudi_services.cli.error_lines import error_lines
from hudi_services.cli.flags import CONTEXT
from hudi_services.cli.json_logs import logs_as_json
from hudi_services.cli.process_context import ALONE, Surroundings
from hudi_services.cli.remedy import name_table, with_explain
from hudi_services.cli.service_command import service_command
from hudi_services.runtime.failures import REPORTED_ERRORS, Failure, tell
from hudi_services.runtime.result import DONE
from hudi_services.runtime.terminal import LogLines, echo, text_width
from hudi_services.services.entries import ENTRIES, Entries

_log = logging.getLogger(__name__)


def program(entries: Entries) -> click.Group:
    """The program with a subcommand for each of these services, and those that look at a table and its options."""
    group = click.Group(
        help="Table services for Apache Hudi tables.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but for a service after the commit.",
        context_settings=CONTEXT,
    )
    click.version_option(__version__, prog_name=PROGRAM)(group)
    services = (service_command(entry, entries) for entry in entries if entry.command.typed)
    by_hand = (savepoint, restore, rollback, undelete, table, purge, unlock, pause, resume, consumer)
    for command in (
        *services,
        *by_hand,
        check_command(entries),
        infer,
        airflow,
        timeline_server,
        advise,
        doctor,
        show,
        diff,
        history,
        objectives,
        watch,
        alerts,
        cdc,
        sql,
        options,
        folder,
        completion,
    ):
        group.add_command(command)
    _shorten(group)
    return group


def _shorten(group: click.Group) -> None:
    """Lists of commands show the whole first clause of each help, where click would cut it short."""
    for command in group.commands.values():
        command.short_help = re.split(r"[.:;]\s|[.:;]$", command.help or "", maxsplit=1)[0] + "."
        if isinstance(command, click.Group):
            _shorten(command)


cli = program(ENTRIES)


def main(arguments: Sequence[str] | None = None, group: click.Group = cli, surroundings: Surroundings = ALONE) -> int:
    """Run the program and return its exit code. Errors go to standard error: in one line, or in those of a terminal."""
    argv = sys.argv[1:] if arguments is None else list(arguments)
    if logging.lastResort is not None:  # it prints warnings without --verbose
        logging.lastResort.setFormatter(LogLines())
    try:
        with logs_as_json(os.environ) as logged, _failure_logged(logged):
            code = group.main(args=argv, prog_name=PROGRAM, standalone_mode=False, obj=surroundings)
    except REPORTED_ERRORS as error:
        name_table(error, argv, group)
        if {"--verbose", "-v"} & set(argv):
            echo("".join(traceback.format_exception(error)), err=True, nl=False)
        as_json = "--json" in argv
        if sys.stderr.isatty() and not as_json and not isinstance(error, click.ClickException):
            echo("\n".join(error_lines(error, text_width(), PROGRAM)), err=True)
            return Failure.of(error).exit_code
        return tell(with_explain(error), as_json=as_json)
    return code or DONE


@contextmanager
def _failure_logged(logged: bool) -> Iterator[None]:
    try:
        yield
    except REPORTED_ERRORS as error:
        if logged:
            failure = Failure.of(error)
            _log.error("%s: %s", failure.error, failure.what)
        raise


def spark_application(service: str) -> int:
    """Run a service as spark-submit calls it. Returns the exit code."""
    return main([service, "--engine", "spark", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
