"""The service `stream`: a table follows another one, a folder of files, or a topic, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from hoodie.config import laid_over
from hoodie.config.groups import INGEST_OPTIONS, WRITE_OPTIONS
from hoodie.config.keys.write import OPERATION as WRITE_OPERATION
from hoodie.errors import RegistryError
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import OPERATION, Arguments, Field, Outlook, Run, RunRequest, Step, Trigger, WhenDue
from hudi_services.entry.feed.flag import feed_flag
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.retention import with_retention
from hudi_services.entry.service import Command, Dag, Section, ServiceEntry
from hudi_services.entry.source import BadRows, TopicSource
from hudi_services.entry.table import Table
from hudi_services.runtime.sizes import bytes_of
from hudi_services.sources.ingest.entry import INGEST
from hudi_services.sources.ingest.kafka.flags import FLAGS as TOPIC_FLAGS
from hudi_services.sources.ingest.kafka.flags import flags_of_topic
from hudi_services.sources.ingest.reload import START_FRESH
from hudi_services.sources.stream.options import (
    ANY,
    CONTINUOUS,
    HISTORIES,
    ON_DATA_LOSS,
    OPERATIONS,
    READS,
    Stream,
    contradictions,
)

_SHARED = ("source_path", "source_format", "feed", "start_fresh", "quarantine_path", "max_bad_share")
# --source-table is one of the stream's own: with a topic it is the table there.
_OF_TOPICS = tuple(flag.name for flag in TOPIC_FLAGS if flag.name != "source_table")
_OF_INGEST = tuple(
    flag for flag in INGEST.command.flags if flag.name in (*_SHARED, *_OF_TOPICS, "create_table_version")
)


def _bytes(_context: click.Context, _flag: click.Parameter, value: str | None) -> int | None:
    try:
        return None if value is None else bytes_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _task(call: Call, **flags: Any) -> Task:
    from hudi_services.sources.stream.task import stream_task

    return stream_task(call, **flags)


def _trigger(_table: Table, section: Stream) -> Trigger:
    if section.mode == CONTINUOUS:
        return Trigger(continuous=True)
    followed = () if section.table is None else (section.table,)
    return Trigger(section.schedule, tables=followed, watched=section.commits_by == ANY)


def _form(_table: Table) -> tuple[Field, ...]:
    return OPERATION, START_FRESH


def _steps(table: Table, section: Stream) -> tuple[Step, ...]:
    run = Run("stream", "stream")
    if section.mode == CONTINUOUS or isinstance(table.source, TopicSource):
        return (run,)  # only a run has the connection of the brokers
    return WhenDue("new_commits", lambda request: _outlook(table, section, request)), run


def _outlook(table: Table, section: Stream, request: RunRequest) -> Outlook:
    """Most runs of a schedule of minutes find nothing: they end before a process starts."""
    if request.run_type not in ("scheduled", "asset_triggered"):
        return Outlook(True, f"asked for by a run of type {request.run_type}")
    return STREAM.command.outlook(table.base_path, _arguments(table, section, request))


def _arguments(table: Table, section: Stream, request: RunRequest) -> Arguments:
    flags = ["--history", section.history, "--create-table-version", str(table.version)]
    if section.path is None and isinstance(table.source, TopicSource):
        flags += [*flags_of_topic(table.source), "--operation", "upsert", *_quarantine(table.source.quarantine)]
    elif section.path is not None:
        flags += ["--source-table", section.path, "--read", section.read, "--operation", section.operation]
        flags += ["--start", section.start] if section.start is not None else []
        flags += ["--max-commits", str(section.max_commits)] if section.max_commits is not None else []
        flags += ["--max-bytes", str(section.max_bytes)] if section.max_bytes is not None else []
        flags += ["--on-data-loss", section.on_data_loss]
        flags += ["--unique-keys"] if section.unique_keys else []
    elif table.folder is not None:
        source = table.folder
        flags += ["--source-path", source.path, "--source-format", source.format, "--operation", source.operation]
        flags += [*feed_flag(source.feed), *_quarantine(source.quarantine)]
    else:
        raise RegistryError(
            f"The stream of table {table.name} follows nothing", fix="give its section stream a table or a path"
        )
    flags += ["--start-fresh"] if request.params.get("start_fresh") else []
    if section.mode == CONTINUOUS:
        flags += ["--for", f"{section.run_for.total_seconds() / 60:g}"]
    options = laid_over(section.hoodie, laid_over(table.hoodie, options_of_new(table, table.keys)))
    return Arguments(tuple(flags), with_retention(table, options))


def _quarantine(rows: BadRows) -> list[str]:
    flags = ["--max-bad-share", str(rows.max_share)]
    return flags + (["--quarantine-path", rows.path] if rows.path is not None else [])


def _notes(table: Table) -> Sequence[str]:
    section = STREAM.section_of(table)
    if section is None or section.path is None:
        return [f"follows the {table.source.shown}"] if section and isinstance(table.source, TopicSource) else []
    named = f"table {section.table}" if section.table is not None else "the table"
    return [f"follows the {section.read} of {named} at `{section.path}`"]


STREAM: ServiceEntry[Stream] = ServiceEntry(
    "stream",
    Command(
        """Bring a table up to another Hudi table, a folder of files, or a topic: all rows first, then each change once.

        Each batch is one commit of the table, which also holds the position of the source after it.
        """,
        _task,
        (
            click.Option(
                ["--source-table"],
                metavar="PATH",
                help="Base path of the Hudi table to follow. With --source-topic: the DATABASE.TABLE whose changes count.",
            ),
            click.Option(
                ["--read"],
                type=click.Choice(READS),
                default=READS[0],
                show_default=True,
                help="The inserts, updates and deletes of the table, or only the rows that its commits wrote.",
            ),
            click.Option(
                ["--start"],
                metavar="TIME",
                help="A first run follows the commits of the table after this time, without the rows before.",
            ),
            click.Option(["--max-commits"], type=click.IntRange(min=1), help="Commits of a batch at most."),
            click.Option(
                ["--max-bytes"],
                callback=_bytes,
                metavar="SIZE",
                help="Bytes that the commits of a batch wrote at most, such as 256m.",
            ),
            click.Option(
                ["--on-data-loss"],
                type=click.Choice(ON_DATA_LOSS),
                default=ON_DATA_LOSS[0],
                show_default=True,
                help="When changes of the source are gone: fail, or replace all rows by those of the source.",
            ),
            click.Option(
                ["--unique-keys"],
                is_flag=True,
                help="Each record key of the followed table is in one partition: the target may have other partitions.",
            ),
            click.Option(
                ["--once"], is_flag=True, help="End after one batch. [default: when all that was there is in]"
            ),
            click.Option(
                ["--for", "lasting"],
                type=click.FloatRange(min=0),
                metavar="MINUTES",
                help="Take in new commits for this time, then end.",
            ),
            click.Option(
                ["--history"],
                type=click.Choice(HISTORIES),
                default=HISTORIES[0],
                show_default=True,
                help="The operation of the first load, if the table has no commit yet.",
            ),
            click.Option(["--operation"], type=click.Choice(OPERATIONS), help="[default: upsert]"),
            *_OF_INGEST,
        ),
        application="stream.py",
        examples=(
            "hudi-services stream --table orders_copy --explain",
            "hudi-services stream --table orders_copy --for 60",
            "hudi-services stream --target-base-path /data/lake/orders_copy --source-table /data/lake/orders \\\n"
            "    --hoodie-conf hoodie.table.name=orders_copy --hoodie-conf hoodie.table.recordkey.fields=order_id",
        ),
    ),
    Section(
        Stream,
        (INGEST_OPTIONS, WRITE_OPTIONS),
        only=INGEST.section.only,
        always=False,
        replaced={WRITE_OPERATION: "stream.operation"},
        places=(("path",),),
        tables=(("table", "path"),),
        contradictions=contradictions,
    ),
    Dag(_steps, _arguments, _trigger, _form, notes=_notes, changes_rows=True),
)
