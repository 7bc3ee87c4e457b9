"""The service `ingest`: new files of a folder, or new messages of a topic, into a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Annotated, Any

import click
from pydantic import Field as Limit

from hoodie.config import laid_over
from hoodie.config.groups import INGEST_OPTIONS, WRITE_OPTIONS
from hoodie.config.keys.clean import CLEAN_KEYS
from hoodie.config.keys.compaction import COMPACTION_KEYS
from hoodie.config.keys.ingest import SOURCE_ROOT
from hoodie.config.keys.inline import INLINE_KEYS
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.config.keys.write import OPERATION as WRITE_OPERATION
from hoodie.config.keys.write import OPERATIONS, WRITE_KEYS
from hoodie.errors import ConfigError, RegistryError
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import (
    OPERATION,
    Arguments,
    Field,
    Outlook,
    Run,
    RunRequest,
    Step,
    Trigger,
    WhenDue,
    WhenOn,
    dag_id,
)
from hudi_services.entry.feed.flag import feed_flag
from hudi_services.entry.feed.model import contradictions
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.retention import with_retention
from hudi_services.entry.schedule import next_begin
from hudi_services.entry.service import Command, Dag, KeyPath, Section, ServiceEntry
from hudi_services.entry.source import ROW_FORMATS, BadRows, DatabaseSource, TopicSource
from hudi_services.entry.table import Schedule, SparkSection, Table
from hudi_services.sources.ingest.dates import Late, begins_within_days, chosen_dates, dates_to_load
from hudi_services.sources.ingest.kafka.flags import FLAGS as TOPIC_FLAGS
from hudi_services.sources.ingest.kafka.flags import FORMATS as TOPIC_FORMATS
from hudi_services.sources.ingest.kafka.flags import contradictions as topic_contradictions
from hudi_services.sources.ingest.kafka.flags import flags_of_topic
from hudi_services.sources.ingest.reload import FIELDS as AGAIN_FIELDS
from hudi_services.sources.ingest.reload import FLAGS as AGAIN_FLAGS
from hudi_services.sources.ingest.reload import START_FRESH, flags_of

SWITCH = "hudi_ingestion_on"
"""The switch of a table that is bootstrapped: ingestion before that would begin a table without history."""

_DAY = click.DateTime(formats=["%Y-%m-%d"])
_FORM_DAY = {"type": ["null", "string"], "format": "date"}
_FROM = "The first day to load. Empty: from the oldest file on; in a backfill the days of each run."
_TO = "The day after the last one. Empty: up to the newest file; in a backfill the days of each run."
_LATE = (
    "In a backfill: yes loads new files of earlier days, too; auto and no leave them. A single run uses the two dates."
)


class Ingest(SparkSection):
    """The schedule of loads. A run loads its interval of the schedule; intervals begin from `start` to `end` (UTC days).

    With `catchup` the intervals since `start` that have no run yet are run one after the other.
    """

    schedule: Schedule | None = None
    start: Annotated[date, Limit(ge=date(1970, 1, 1), lt=date(9000, 1, 1))] = date(2000, 1, 1)
    end: date | None = None
    catchup: bool = False


def _task(call: Call, **flags: Any) -> Task:
    from hudi_services.sources.ingest.task import ingest_task

    return ingest_task(call, **flags)


def _contradictions(table: Table, section: Ingest) -> Iterator[tuple[KeyPath, str]]:
    if table.source is None and section.schedule is not None:
        yield ("ingest", "schedule"), "has no effect without a source"
    if table.folder is not None:
        for path, message in contradictions(table.folder.feed, table.folder.format):
            yield ("source", *path), message
        if table.folder.sql is not None:
            yield from _sql_problems(table.folder.sql)
        yield from _refused_keys(table)
    if isinstance(table.source, TopicSource):
        yield from _topic_problems(table, table.source)
    if (wrong := _never_between(table, section)) is not None:
        yield ("ingest", "end"), wrong
    if not section.catchup:
        return
    if table.source is not None and table.folder is None:
        yield ("ingest", "catchup"), "has no effect without files: a run goes on where the last one ended"
        return
    if _trigger(table, section).cron is None:
        yield ("ingest", "catchup"), "has no effect without a cron schedule in ingest.schedule"
    if "start" not in section.model_fields_set:
        yield ("ingest", "catchup"), "needs ingest.start, the first day to load"
    if table.folder is not None and table.folder.date_pattern is None:
        yield (
            ("ingest", "catchup"),
            "needs source.date_pattern: without it the first run loads the files of all intervals",
        )


def _never_between(table: Table, section: Ingest) -> str | None:
    """Return the reason for which no run begins from `start` to `end`; None if one does, or no clock starts runs."""
    cron, end = _trigger(table, section).cron, section.end
    if end is None or "start" not in section.model_fields_set:
        return None
    if end < section.start:
        return f"{end} is before ingest.start, {section.start}"
    begin = next_begin(cron, section.start) if cron is not None else None
    return f"no run of {cron!r} begins from {section.start} to {end}" if begin and begin.date() > end else None


def _topic_problems(table: Table, source: TopicSource) -> Iterator[tuple[KeyPath, str]]:
    for path, message in topic_contradictions(source):
        yield ("source", *path), message
    keys = table.keys
    for name in (*keys.record_key, *keys.partition_by) if keys is not None else ():
        if source.masks.get(name) in ("mask", "drop"):
            yield (
                ("source", "masks", name),
                "is a part of the key or of the partition: hash it, which keeps its values apart",
            )
    if source.format in ROW_FORMATS:
        return
    if table.keys is not None and table.keys.ordering:
        yield (
            ("keys", "ordering"),
            "would drop changes whose value is lower, though the source has decided; remove it: the topic has the order",
        )


def _refused_keys(table: Table) -> Iterator[tuple[KeyPath, str]]:
    from hudi_services.sources.ingest.key_checks import refused_keys

    return refused_keys(table)


def _warnings(table: Table) -> Iterator[str]:
    from hudi_services.sources.ingest.key_checks import keys_per_partition
    from hudi_services.sources.ingest.partition_times import misread_partitions

    yield from misread_partitions(table)
    yield from keys_per_partition(table)


def _sql_problems(sql: str) -> Iterator[tuple[KeyPath, str]]:
    from hudi_services.sources.ingest.shape.statement import parsed  # loads DuckDB, which most tables do not need

    try:
        parsed(sql)
    except ConfigError as error:
        yield ("source", "sql"), f"{error.found}; {error.fix}"


def _trigger(_table: Table, section: Ingest) -> Trigger:
    return Trigger.of(section.schedule, start=section.start, end=section.end, catchup=section.catchup)


def _form(table: Table) -> tuple[Field, ...]:
    if table.source is not None and table.folder is None:
        return OPERATION, START_FRESH
    if table.folder is None or table.folder.date_pattern is None:
        return (OPERATION, *AGAIN_FIELDS)
    return (
        OPERATION,
        Field("from", "First date", _FROM, None, _FORM_DAY),
        Field("to", "First date not to load", _TO, None, _FORM_DAY),
        Field(
            "catch_up_late",
            "Also load late files",
            _LATE,
            Late.AUTO.value,
            {"type": "string", "enum": [str(late) for late in Late]},
        ),
        *AGAIN_FIELDS,
    )


def _steps(table: Table, section: Ingest) -> tuple[Step, ...]:
    steps: tuple[Step, ...] = (Run("ingest", "ingest"),)
    cron = _trigger(table, section).cron
    if table.folder is not None and cron is not None and begins_within_days(cron):
        steps = (WhenDue("new_files", lambda request: _outlook(table, section, request)), *steps)
    if table.section("bootstrap") is None:
        return steps
    first = f"table {table.name} is not bootstrapped: run the DAG {dag_id('bootstrap', table.name)} first"
    return WhenOn("bootstrapped", SWITCH, first), *steps


def _outlook(table: Table, section: Ingest, request: RunRequest) -> Outlook:
    """Most runs of an hourly schedule find nothing new, above all in a backfill, whose first run of a day loads all of it: they
    end here, before Spark starts."""
    if request.run_type not in ("scheduled", "backfill"):
        return Outlook(True, f"asked for by a run of type {request.run_type}")
    if table.folder is not None and table.folder.expect.freshness is not None and request.run_type == "scheduled":
        return Outlook(True, "the run checks how old the newest file is")
    return INGEST.command.outlook(table.base_path, _arguments(table, section, request))


def _arguments(table: Table, section: Ingest, request: RunRequest) -> Arguments:
    """Arguments that name the run's dates if the paths of the files have dates, or every file that the checkpoint has not
    seen."""
    if isinstance(table.source, DatabaseSource):
        raise RegistryError(
            f"Table {table.name} cannot be loaded from a database by `ingest`",
            fix=f"run `hudi-services cdc sync {table.source.server}`",
        )
    if isinstance(table.source, TopicSource):
        flags = [*flags_of_topic(table.source), "--operation", "upsert"]
        flags += ["--start-fresh"] if request.params.get("start_fresh") else []
        return _with_rest(table, section, table.source.quarantine, flags)
    source, keys = table.folder, table.keys
    if source is None or keys is None:
        raise RegistryError(f"Table {table.name} has no source to ingest from", fix="give it `source` and `keys`")
    chosen = chosen_dates(request.params.get("from"), request.params.get("to"))
    flags = ["--source-path", source.path, "--source-format", source.format]
    if source.date_pattern is not None:
        late = Late(request.params.get("catch_up_late", Late.AUTO))
        if late is Late.YES and request.params.get("reload") and request.run_type == "backfill":
            raise ValueError("catch_up_late contradicts reload: each run would load all days before its own again")
        dates = dates_to_load(request.run_type, request.interval, chosen, late)
        if dates is not None:
            flags += ["--source-date-pattern", source.date_pattern]
            flags += ["--from", dates.start.isoformat()] if dates.start else []
            flags += ["--to", dates.stop.isoformat()] if dates.stop else []
    flags += flags_of(request.params)
    flags += feed_flag(source.feed)
    flags += ["--operation", source.operation]
    return _with_rest(table, section, source.quarantine, flags)


def _with_rest(table: Table, section: Ingest, quarantine: BadRows, flags: Sequence[str]) -> Arguments:
    """The arguments with the flags that sources of all kinds have, and the options."""
    more_flags = ["--create-table-version", str(table.version)]
    if quarantine.path is not None:
        more_flags += ["--quarantine-path", quarantine.path]
    more_flags += ["--max-bad-share", str(quarantine.max_share)]
    options = laid_over(section.hoodie, laid_over(table.hoodie, options_of_new(table, table.keys)))
    return Arguments((*flags, *more_flags), with_retention(table, options))


def _notes(table: Table) -> Sequence[str]:
    source, files = table.source, table.folder
    notes = [f"source: {source.shown}"] if source is not None else []
    if files is not None:
        notes = [f"source: `{files.path}` ({files.format}), {files.operation}"]
    return [*notes, *(f"WARNING: {warning}" for warning in _warnings(table))]


INGEST = ServiceEntry(
    "ingest",
    Command(
        """Load new files of a folder, or new messages of a topic, into a table, exactly once.

        The table is created when it is not there.

        Exit code 3: the files are loaded, but a service that the options ask for after the commit failed.
        """,
        _task,
        (
            click.Option(["--source-path"], help="Folder of files to load; sub folders are searched too. [required]"),
            click.Option(
                ["--source-format"],
                type=click.Choice(list(dict.fromkeys(("parquet", "csv", "json", *TOPIC_FORMATS)))),
                default="parquet",
                show_default=True,
            ),
            *TOPIC_FLAGS,
            click.Option(
                ["--feed"],
                metavar="JSON|FILE",
                help="How to choose, read and shape files: `source` in docs/how-to/load-files.md, as JSON text or a file.",
            ),
            click.Option(["--source-date-pattern"], help="The date in the paths, such as dt=%Y-%m-%d."),
            click.Option(["--from", "start"], type=_DAY, help="First date to load."),
            click.Option(["--to", "end"], type=_DAY, help="First date not to load."),
            click.Option(
                ["--operation"],
                type=click.Choice(OPERATIONS),
                help="[default: upsert]",
            ),
            *AGAIN_FLAGS,
            click.Option(
                ["--start-fresh"],
                is_flag=True,
                help="Forget what was loaded from this source: every file counts as new.",
            ),
            click.Option(
                ["--quarantine-path"], help="Folder for rows that cannot be loaded. [default: <table>.quarantine]"
            ),
            click.Option(
                ["--max-bad-share"],
                type=click.FloatRange(0, 1),
                default=0.0,
                show_default=True,
                help="Tolerated share of bad rows.",
            ),
            click.Option(
                ["--create-table-version"],
                type=click.Choice(["6", "9"]),
                help="Version of the table if it is created.",
            ),
            click.Option(
                ["--then-stream"],
                is_flag=False,
                flag_value="inf",
                type=click.FloatRange(min=0),
                metavar="[MINUTES]",
                help="Load the history by bulk_insert if the table has no commit yet, then go on with new files for this time. "
                "Without a number: until the process is stopped.",
            ),
        ),
        application="ingest.py",
        examples=(
            "hudi-services ingest --table orders --explain",
            "hudi-services ingest --table orders --from 2026-01-01 --to 2026-02-01 --reload",
            "hudi-services ingest --table orders --files dt=2026-01-03/ --files dt=2026-01-07/ --reload --explain",
            "hudi-services ingest --table orders --then-stream 60",
            "hudi-services ingest --table orders --reload-since 20260103061500000 --explain",
            "hudi-services ingest --target-base-path /data/lake/orders --source-path /data/landing/orders \\\n"
            "    --source-format csv --hoodie-conf hoodie.table.name=orders \\\n"
            "    --hoodie-conf hoodie.table.recordkey.fields=order_id",
        ),
    ),
    Section(
        Ingest,
        (INGEST_OPTIONS, WRITE_OPTIONS),
        # Also the options of the services that may follow its commit.
        only=(*WRITE_KEYS, *INLINE_KEYS, *CLEAN_KEYS, *COMPACTION_KEYS, *SYNC_KEYS),
        replaced={WRITE_OPERATION: "source.operation", SOURCE_ROOT: "source.path"},
        contradictions=_contradictions,
        warnings=_warnings,
    ),
    Dag(
        _steps,
        _arguments,
        _trigger,
        _form,
        applies=lambda table: table.source is not None and not isinstance(table.source, DatabaseSource),
        notes=_notes,
        changes_rows=True,
    ),
)
