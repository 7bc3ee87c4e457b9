"""Flags that several commands share: which table, JSON, the log."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from hoodie.errors import ConfigError, HoodieError
from hoodie.model.place import same_table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.registry.lookup import registry_file, table_named, table_names
from hudi_services.runtime.terminal import LogLines
from hudi_services.services.entries import ENTRIES, Entries

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
"""Settings of every command."""
VERBOSE = "hudi_services.verbose"
"""The note in a command's context that says that it was asked to log more."""
WIDE = "hudi_services.wide"
"""The note in a command's context that says that its tables may be wider than the terminal."""


def table_flags() -> list[click.Option]:
    """The flags that choose a table: by its path, or by its name in a registry."""
    return [
        click.Option(["--target-base-path"], metavar="PATH", help="Path or URL of the table."),
        click.Option(
            ["--table"],
            metavar="NAME",
            shell_complete=_complete_table,
            help="Name of the table in the registry, in place of its path.",
        ),
        registry_flag(),
    ]


def registry_flag() -> click.Option:
    return click.Option(
        ["--registry"],
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="The registry. [default: $HUDI_REGISTRY, or ./tables.yaml]",
    )


Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def option_flags(complete: Completion | None = None) -> list[click.Option]:
    """The flags of hoodie.* options that are not in the registry: a properties file, and single options."""
    return [
        click.Option(["--props"], metavar="FILE", help="Properties file of hoodie.* options, a path or URL."),
        click.Option(
            ["--hoodie-conf", "conf"],
            multiple=True,
            metavar="KEY=VALUE",
            shell_complete=complete,
            help="One option; wins over --props, and that over the registry. Repeatable.",
        ),
    ]


def single_option_flag() -> click.Option:
    """The flag of single options, for commands that take few of them."""
    return click.Option(["--hoodie-conf", "conf"], multiple=True, metavar="KEY=VALUE", help="One option. Repeatable.")


def json_flag(help_text: str = "Print it as JSON.") -> click.Option:
    return click.Option(["--json", "as_json"], is_flag=True, help=help_text)


def wide_flag() -> click.Option:
    """The flag of commands that print tables."""
    return click.Option(
        ["--wide"],
        is_flag=True,
        expose_value=False,
        callback=lambda context, _option, wide: context.meta.update({WIDE: wide}),
        help="Print all columns of a table, also where they are wider than the terminal.",
    )


def verbose_flag() -> click.Option:
    return click.Option(
        ["--verbose", "-v"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=lambda context, _option, verbose: _log_more(context) if verbose else None,
        help="Show the log, and the traceback of an error.",
    )


def chosen_table(
    target_base_path: str | None, table: str | None, registry: str | None, entries: Entries = ENTRIES
) -> ChosenTable:
    """The table that the flags choose. Raises click.UsageError, ConfigError or RegistryError."""
    if table is None:
        if registry is not None:
            raise click.UsageError("--registry has no effect without --table: name the table")
        if target_base_path is None:
            raise click.UsageError("Missing option '--table' or '--target-base-path': say which table.")
        return ChosenTable(target_base_path)
    result = table_named(table, registry_file(registry), entries)
    if target_base_path is not None and not same_table(target_base_path, result.base_path):
        raise ConfigError(
            "--target-base-path contradicts --table",
            found=f"{target_base_path}, and {result.base_path} of table {table}",
            fix="give one of the two",
        )
    return ChosenTable(result.base_path, result)


def with_examples(examples: tuple[str, ...]) -> str | None:
    """The end of a help page: each example is a line as it is typed."""
    if not examples:
        return None
    return "\n".join(["\b", "Examples:", *(f"  {line}" for example in examples for line in example.split("\n"))])


def _log_more(context: click.Context) -> None:
    context.meta[VERBOSE] = True
    handler = logging.StreamHandler()
    handler.setFormatter(LogLines("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    for name in ("hoodie", "hudi_services"):
        logging.getLogger(name).setLevel(logging.INFO)


def _complete_table(context: click.Context, _parameter: click.Parameter, prefix: str) -> list[CompletionItem]:
    try:
        names = table_names(registry_file(context.params.get("registry"), os.environ))
    except HoodieError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(prefix)]
