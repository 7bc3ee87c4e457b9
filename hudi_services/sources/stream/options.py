"""The registry's section of a stream, and its mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field as Limit

from hudi_services.entry.feed.model import Duration
from hudi_services.entry.place import Place
from hudi_services.entry.service import KeyPath
from hudi_services.entry.source import DatabaseSource, TopicSource
from hudi_services.entry.table import Bytes, Cron, SparkSection, Table

CHANGES, ROWS = "changes", "rows"
READS = (CHANGES, ROWS)
SAME = "same"
HISTORIES = ("bulk_insert", "insert", SAME)
OPERATIONS = ("upsert", "insert", "bulk_insert")
ON_DATA_LOSS = ("fail", "resnapshot")
CONTINUOUS, ANY = "continuous", "any"
_OF_TABLES = ("start", "max_commits", "max_bytes", "read", "on_data_loss", "operation", "unique_keys", "commits_by")
"""Keys that say how a table is followed."""


class Stream(SparkSection):
    """The table follows another `table` of the registry, the Hudi table at `path`, or its own `source`: files, or a topic.

    It reads the `changes` of a table, or only the `rows` that commits wrote. All rows of the moment come first, by the operation
    `history`. With `start` only commits after that time count. With `unique_keys` each record key is in one partition of the
    followed table. A batch has `max_commits` commits of `max_bytes` bytes at most.
    In the mode `schedule` a run takes in what is there: by `schedule`, and after each commit to `table` by one of the `services`
    of the registry, or by `any` program. In the mode `continuous` a run lasts `run_for`, and the next one follows it.
    """

    table: str | None = None
    path: Place | None = None
    read: Literal["changes", "rows"] = "changes"
    start: str | None = None
    operation: Literal["upsert", "insert", "bulk_insert"] = "upsert"
    history: Literal["bulk_insert", "insert", "same"] = "bulk_insert"
    max_commits: Annotated[int, Limit(ge=1)] | None = None
    max_bytes: Annotated[Bytes, Limit(ge=1)] | None = None
    unique_keys: bool = False
    on_data_loss: Literal["fail", "resnapshot"] = "fail"
    mode: Literal["schedule", "continuous"] = "schedule"
    schedule: Cron | None = None
    commits_by: Literal["services", "any"] = "services"
    run_for: Annotated[Duration, Limit(ge=timedelta(minutes=1))] = timedelta(hours=1)


def consumer_of(table: str) -> str:
    """The name of the consumer by which the source keeps what the stream into the table of that name has not read."""
    return f"stream-{table}"


def contradictions(table: Table, section: Stream) -> Iterator[tuple[KeyPath, str]]:
    """The mistakes of the section, and what in the rest of the entry it cannot be with."""
    if section.path is None:
        yield from _of_source(table, section)
        return
    if table.source is not None:
        source_text = "a source of files" if table.folder is not None else "a source"
        yield ("stream",), f"follows a table, and the table has {source_text}, too; remove one of them"
    if section.read == CHANGES:
        yield from _of_changes(table, section)
    if table.keys is None and section.operation == "upsert":
        yield ("keys",), "is missing; an upsert needs the columns of the record key"
    if section.commits_by == ANY and section.table is None:
        yield (
            ("stream", "commits_by"),
            "needs a table of the registry: the watcher looks at no other; name it in `table`",
        )
    yield from _of_the_mode(section)


def _of_the_mode(section: Stream) -> Iterator[tuple[KeyPath, str]]:
    if section.mode != CONTINUOUS:
        return
    for name in ("schedule", "commits_by"):
        if name in section.model_fields_set:
            yield (
                ("stream", name),
                "contradicts mode: continuous, in which a run follows the other; remove one of them",
            )


def _of_source(table: Table, section: Stream) -> Iterator[tuple[KeyPath, str]]:
    if table.source is None:
        yield ("stream",), "follows nothing; name a `table` of the registry or a `path`, or give the table a `source`"
    elif isinstance(table.source, DatabaseSource):
        yield (
            ("stream",),
            "follows tables, files and topics; a table of a database server is kept up to date by "
            f"`hudi-services cdc sync {table.source.server}`",
        )
        return
    is_topic = isinstance(table.source, TopicSource)
    for name in (*_OF_TABLES, *(("history",) if is_topic else ())):
        if name in section.model_fields_set:
            yield ("stream", name), f"has no effect without a table to follow; {_instead(name, is_topic=is_topic)}"
    if table.folder is not None and table.folder.operation not in OPERATIONS:
        yield ("source", "operation"), f"has to be {', '.join(OPERATIONS[:-1])} or {OPERATIONS[-1]} for a stream"
    ingest = table.section("ingest")
    if ingest is not None and ingest.schedule is not None:
        data = "messages" if is_topic else "files"
        yield ("stream",), f"loads the {data} that ingest.schedule loads, too; remove one of them"
    yield from _of_the_mode(section)


def _instead(name: str, *, is_topic: bool) -> str:
    if name == "operation":
        return "messages are applied by an upsert" if is_topic else "source.operation says it"
    if name == "history":
        return "all messages are applied by an upsert"
    return f"{'topics' if is_topic else 'files'} have no commits"


def _of_changes(table: Table, section: Stream) -> Iterator[tuple[KeyPath, str]]:
    if section.operation != "upsert":
        yield ("stream", "operation"), "has to be upsert for changes, which have updates and deletes; or say read: rows"
    if table.keys is not None and table.keys.ordering:
        yield (
            ("keys", "ordering"),
            "would drop changes whose value is lower, though the followed table has decided; remove it, or say stream.read: rows",
        )
