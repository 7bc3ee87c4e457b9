"""The commands `show` and `diff`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from hoodie.errors import ConfigError, HoodieError
from hudi_services.cli.flags import (
    CONTEXT,
    chosen_table,
    json_flag,
    table_flags,
    verbose_flag,
    wide_flag,
    with_examples,
)
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.entry.target import Target
from hudi_services.operations.inspect.page import Page, with_commands
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.runtime.terminal import text_width

if TYPE_CHECKING:  # they load Arrow
    from hudi_services.operations.advice.model import Advice
    from hudi_services.operations.inspect.table_look import Look

_LIMIT = click.Option(
    ["--limit"], type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="The newest N."
)
_SINCE = click.Option(
    ["--since"],
    metavar="TIME",
    help="Those that began at this instant, date or time (UTC) or later, archived ones too; also today, yesterday, 12h, 7d.",
)
_ARCHIVED = click.Option(
    ["--archived"], is_flag=True, help="Also those that an archiver moved off the active timeline."
)
_WITHOUT = click.Option(
    ["--without"],
    multiple=True,
    metavar="COLUMN",
    help="Leave this column out, also under its earlier names. Repeatable.",
)
_WIDTH = click.Option(
    ["--width"],
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    metavar="N",
    help="Characters of a value.",
)
_PARTITION = click.Option(["--partition", "within"], metavar="PATH", help="Only of this partition.")


def _looks(
    name: str,
    page: Callable[[Any], Callable[..., Page]],
    help: str,
    example: str,
    *params: click.Parameter,
    unread: Callable[[Any], Callable[..., Page]] | None = None,
) -> click.Command:
    """A command that prints a page, made of a look at a table and the command's own `params` by one of the functions in
    `pages`. `unread` makes the page of a table that an error keeps from being read."""

    def command(
        target_base_path: str | None, table: str | None, registry: str | None, as_json: bool, **own: Any
    ) -> int:
        chosen = chosen_table(target_base_path, table, registry)
        from hudi_services.cli.commands import show_pages as pages  # loads Arrow

        try:
            shown = page(pages)(pages.look_at(chosen), **own)
        except (HoodieError, OSError) as error:
            if unread is None or isinstance(error, ConfigError):  # a mistake of the command or of its settings
                raise
            shown = unread(pages)(chosen, error)
        name = chosen.entry.name if chosen.entry is not None else None
        loads = chosen.entry is not None and chosen.entry.is_ingested
        target = Target.of(chosen.base_path, name, registry, loads=loads)
        return pages.print_page(with_commands(shown, target), as_json=as_json)

    return click.Command(
        name,
        callback=command,
        params=[*params, *table_flags(), json_flag(), wide_flag(), verbose_flag()],
        help=help,
        epilog=with_examples((example,)),
        context_settings=CONTEXT,
    )


def _overview(_pages: Any) -> Callable[..., Page]:
    from hudi_services.operations.advice import page as advice  # loads all sources, which take a second
    from hudi_services.operations.advice.rounds import of_source

    registry = click.get_current_context().params.get("registry")

    def page(look: Look) -> Page:
        entry = look.entry
        server: tuple[Advice, ...] = ()
        if entry is not None and isinstance(entry.source, DatabaseSource):
            server = of_source(entry, read_registry(registry_file(registry)), look.now, registry)
        return advice.advised_overview(look, text_width(), registry, server)

    return page


def _unread(_pages: Any) -> Callable[..., Page]:
    from hudi_services.operations.advice.page import unread_overview

    registry = click.get_current_context().params.get("registry")

    def page(chosen: ChosenTable, error: Exception) -> Page:
        return unread_overview(chosen, error, text_width(), registry)

    return page


show = click.Group("show", help="Look at a table: it changes nothing.", context_settings=CONTEXT)
for command in (
    _looks(
        "table",
        _overview,
        "The table on one page: first what is wrong or waits and what fixes it, as `advise` does. The doctor looks only "
        "at a table with problems. Then rows of base files and in logs, as commits count them, files and their sizes, "
        "freshness, last commits and services, pending plans, locks, and what cleaning and compaction would do now, or "
        "what blocks them.\n\nExit code 1: there are problems, which the advice names.",
        "hudi-services show table --table orders",
        unread=_unread,
    ),
    _looks(
        "properties",
        lambda pages: pages.properties,
        "The properties of the table, as it stores them.",
        "hudi-services show properties --table orders",
    ),
    _looks(
        "timeline",
        lambda pages: pages.timeline,
        "The instants of the active timeline, the newest first.",
        "hudi-services show timeline --table orders --limit 5",
        _LIMIT,
        _SINCE,
        _ARCHIVED,
    ),
    _looks(
        "commits",
        lambda pages: pages.commits,
        "The completed commits of the active timeline, the newest first: times, rows, files.",
        "hudi-services show commits --table orders --since 2026-01-01 --limit 100 --json",
        _LIMIT,
        _SINCE,
        _ARCHIVED,
    ),
    _looks(
        "changes",
        lambda pages: pages.changes,
        "Count the rows that each commit of a range inserted, updated and deleted. This reads the file groups that the commits "
        "wrote, before and after each of them.",
        'hudi-services show changes --table orders --since yesterday --filter "total > 100" --rows 20',
        click.Option(
            ["--since"],
            metavar="TIME",
            help="Commits that completed after this instant, date or time (UTC); also today, yesterday, 12h, 7d. Default: all "
            "commits.",
        ),
        click.Option(["--until"], metavar="TIME", help="Commits that completed at this time or earlier; as --since."),
        click.Option(
            ["--columns"],
            metavar="COLUMNS",
            callback=lambda _context, _option, text: None if text is None else text.split(","),
            help="Show these columns of the rows, with commas between them.",
        ),
        click.Option(
            ["--filter"], metavar="CONDITION", help="Changes whose row meets this condition of SQL before or after."
        ),
        click.Option(["--net"], is_flag=True, help="One change for each row of the whole range."),
        click.Option(
            ["--rows"], type=click.IntRange(1, 10_000), metavar="N", help="Also show the first N changes, row by row."
        ),
        click.Option(
            ["--last"],
            type=click.IntRange(1, 10_000),
            metavar="N",
            help="The newest N commits that changed rows, alone.",
        ),
        click.Option(
            ["--most-bytes"],
            type=click.IntRange(1),
            metavar="N",
            help="With --last: count no commit whose file groups have more bytes than are left of N.",
        ),
        _WIDTH,
    ),
    _looks(
        "consumers",
        lambda pages: pages.consumers,
        "The named consumers of the table's changes: position, and how far each is behind.\n\nExit code 1: a position cannot be "
        "read.",
        "hudi-services show consumers --table orders",
    ),
    _looks(
        "partitions",
        lambda pages: pages.partitions,
        "The partitions: file groups, sizes, rows of base files, and rows and deletions in logs.",
        "hudi-services show partitions --table orders",
    ),
    _looks(
        "slices",
        lambda pages: pages.slices,
        "The file slices: each file group's base file, and the logs over it.\n\nExit code 1: files are missing, and are marked.",
        "hudi-services show slices --table orders --partition order_date=2026-01-31 --all",
        _PARTITION,
        click.Option(["--all", "everything"], is_flag=True, help="Also older slices, which a clean may remove."),
    ),
    _looks(
        "files",
        lambda pages: pages.files,
        "The data files that make up the table now.\n\nExit code 1: some are missing, and are marked.",
        "hudi-services show files --table orders --partition order_date=2026-01-31",
        _PARTITION,
    ),
    _looks(
        "rows",
        lambda pages: pages.rows,
        "Some rows of the table, as it is or was at a moment: no more files are read than hold them. --width cuts "
        "long values.",
        "hudi-services show rows --table orders --as-of yesterday --partition order_date=2026-01-31 --limit 5",
        click.Option(
            ["--limit"], type=click.IntRange(1, 10_000), default=20, show_default=True, metavar="N", help="At most N."
        ),
        click.Option(
            ["--as-of"], metavar="TIME", help="As of this instant, date or time (UTC); also today, yesterday, 12h, 7d."
        ),
        _PARTITION,
        _WITHOUT,
        _WIDTH,
    ),
    _looks(
        "logs",
        lambda pages: pages.logs,
        "The blocks of the logs of a merge-on-read table, in the order in which they count.",
        "hudi-services show logs --table orders --partition order_date=2026-01-31",
        _PARTITION,
        click.Option(["--file-group", "group"], metavar="ID", help="Only of this file group."),
    ),
    _looks(
        "file",
        lambda pages: pages.data_file,
        "The footer of a base file: rows, row groups, columns, key range, bloom filter, commit times. PATH is one of `show "
        "files`.",
        "hudi-services show file order_date=2026-01-31/c5a5b1e0-0_0-1-2_20260131060000000.parquet --table orders",
        click.Argument(["path"]),
    ),
    _looks(
        "quarantine",
        lambda pages: pages.quarantine,
        "Rows that loads could not write: the loads that left some, the newest first, and N of the rows with file and reason.",
        "hudi-services show quarantine --table orders --limit 5",
        _LIMIT,
        _WIDTH,
    ),
    _looks(
        "locks",
        lambda pages: pages.locks,
        "The locks of the table, and their holders.",
        "hudi-services show locks --table orders",
    ),
    _looks(
        "audit",
        lambda pages: pages.audit,
        "Deletions from the table: when, why, by which plan, by whom. The newest are first. With --instant or --path also the "
        "files.",
        "hudi-services show audit --table orders --since 2026-01-01 --path order_date=2026-01-31",
        _LIMIT,
        click.Option(
            ["--since"],
            metavar="TIME",
            help="From this instant, date or time (UTC) on; also today, yesterday, 12h, 7d.",
        ),
        click.Option(["--until"], metavar="TIME", help="Up to this instant, date or time (UTC); as --since."),
        click.Option(["--instant"], metavar="INSTANT", help="Only of this action."),
        click.Option(
            ["--path"], metavar="PATH", help="Only files with this in their paths; a glob, if it has one of * ? [."
        ),
    ),
):
    show.add_command(command)

diff = _looks(
    "diff",
    lambda pages: pages.difference,
    "Changes of the table after the instant FIRST, until LAST or now: commits, partitions, file groups, rows. Both are "
    "instants, or dates and times in UTC, as of which the table is compared.",
    "hudi-services diff 2026-01-30 2026-01-31T12:00 --table orders --rows 20",
    click.Argument(["first"]),
    click.Argument(["last"], required=False),
    click.Option(
        ["--rows"],
        type=click.IntRange(min=1),
        metavar="N",
        help="Also show N rows that differ, by key. Reads the changed file groups.",
    ),
    _WITHOUT,
)
