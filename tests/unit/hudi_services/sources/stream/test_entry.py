"""The section `stream` of the registry: its mistakes, what the command is called with, and when its DAG runs."""

from __future__ import annotations

from datetime import date

import pytest

from hudi_services.entry.dag import RunRequest
from hudi_services.entry.schedule_text import services_of
from hudi_services.registry.load import read_registry
from hudi_services.services.entries import ENTRIES
from hudi_services.sources.stream.entry import STREAM

ORDERS = "  - {name: orders, base_path: /lake/orders}\n"
FILES = "source: {path: /land, format: csv}, keys: {record_key: id}"


def read(tmp_path, entry, defaults=""):
    file = tmp_path / "tables.yaml"
    file.write_text(f"tables:\n{ORDERS}  - {{name: copy, base_path: /lake/copy, {entry}}}\n{defaults}")
    return read_registry(file)


def flags(table, **params):
    return STREAM.called_with(table, RunRequest(params=params)).flags


def test_a_table_of_the_registry_is_followed_by_its_name(tmp_path):
    keys = "keys: {record_key: id}"
    reading = read(
        tmp_path, f"{keys}, stream: {{table: orders, max_bytes: 1g, max_commits: 5}}, clean: {{after_ingests: 3}}"
    )
    assert not reading.mistakes
    table = reading.registry.table("copy")
    found = flags(table, start_fresh=True)
    assert found[4:8] == ("--source-table", "/lake/orders", "--read", "changes")
    assert {"--max-bytes", str(1 << 30), "--max-commits", "5", "--start-fresh"} <= set(found)
    assert "--for" not in found
    runs = {each.service: each.runs for each in services_of(table, ENTRIES, date(2026, 1, 1))}
    assert (runs["stream"], runs["clean"]) == ("after commits of orders", "after commits by any program")
    trigger = STREAM.dag.trigger(table, STREAM.section_of(table))
    assert (trigger.tables, trigger.cron) == (("orders",), None)
    assert [step.task_id for step in STREAM.dag.steps(table, STREAM.section_of(table))] == ["new_commits", "stream"]


def test_commits_of_any_program_start_a_run(tmp_path):
    table = read(tmp_path, "keys: {record_key: id}, stream: {table: orders, commits_by: any}").registry.table("copy")
    trigger = STREAM.dag.trigger(table, STREAM.section_of(table))
    assert (trigger.tables, trigger.watched) == (("orders",), True)
    runs = {each.service: each.runs for each in services_of(table, ENTRIES, date(2026, 1, 1))}
    assert runs["stream"] == "after commits of orders by any program"


def test_one_table_is_read_alone_with_the_path_of_the_other(tmp_path):
    read(tmp_path, "keys: {record_key: id}, stream: {table: orders}")
    only = read_registry(tmp_path / "tables.yaml", only="copy").registry
    assert [table.name for table in only.tables] == ["copy"]
    assert STREAM.section_of(only.tables[0]).path == "/lake/orders"


def test_a_continuous_stream_is_one_run_after_the_other(tmp_path):
    stream = "stream: {path: /lake/orders, mode: continuous, read: rows, operation: insert, run_for: 30m}"
    table = read(tmp_path, stream).registry.table("copy")
    assert flags(table)[-2:] == ("--for", "30")
    trigger = STREAM.dag.trigger(table, STREAM.section_of(table))
    assert (trigger.continuous, trigger.tables) == (True, ())
    assert [step.task_id for step in STREAM.dag.steps(table, STREAM.section_of(table))] == ["stream"]
    options = STREAM.called_with(table, RunRequest()).options
    assert not [name for name in options if "recordkey" in name], "an append stream needs no keys"


def test_a_topic_is_followed_by_schedule_or_without_end(tmp_path):
    """The broker is asked by runs only: they have the connection."""
    topic = "keys: {record_key: id}, source: {server: events, topic: o, format: debezium-json, table: shop.o, masks: {c: hash}}"
    servers = "servers: {events: {type: kafka, connection: events, hash_key: salt}}\n"
    table = read(tmp_path, f"{topic}, stream: {{schedule: '*/5 * * * *'}}", servers).registry.table("copy")
    trigger, steps = (
        STREAM.dag.trigger(table, STREAM.section_of(table)),
        STREAM.dag.steps(table, STREAM.section_of(table)),
    )
    assert (trigger.cron, [step.task_id for step in steps]) == ("*/5 * * * *", ["stream"])
    found = flags(table, start_fresh=True)
    assert found[4:10] == ("--source-topic", "o", "--source-format", "debezium-json", "--source-server", found[9])
    assert found[10:] == (
        *("--source-table", "shop.o", "--mask", "c=hash", "--operation", "upsert", "--max-bad-share", "0.0"),
        "--start-fresh",
    )
    assert STREAM.dag.notes(table) == ["follows the topic o of events (debezium-json, table shop.o)"]
    endless = "stream: {mode: continuous, run_for: 30m}"
    table = read(tmp_path, f"{topic}, {endless}", servers).registry.table("copy")
    assert STREAM.dag.trigger(table, STREAM.section_of(table)).continuous
    assert flags(table)[-2:] == ("--for", "30")
    assert not read(tmp_path, f"{topic}, {endless}", servers).mistakes


def test_files_of_the_table_are_followed(tmp_path):
    table = read(tmp_path, f"{FILES}, stream: {{schedule: '*/5 * * * *'}}").registry.table("copy")
    assert flags(table)[:8] == (
        *("--history", "bulk_insert", "--create-table-version", "9"),
        *("--source-path", "/land", "--source-format", "csv"),
    )
    assert STREAM.dag.trigger(table, STREAM.section_of(table)).cron == "*/5 * * * *"


@pytest.mark.parametrize(
    ("entry", "key", "message"),
    [
        ("stream: {}", "copy.stream", "follows nothing"),
        ("stream: {table: nothing}", "copy.stream.table", "no table of the registry"),
        ("stream: {table: copy}", "copy.stream.table", "names the table itself"),
        ("stream: {table: orders, path: /x}", "copy.stream.path", "contradicts table"),
        ("stream: {table: orders}", "copy.keys", "is missing; an upsert"),
        ("keys: {record_key: id, ordering: ts}, stream: {table: orders}", "copy.keys.ordering", "would drop changes"),
        ("stream: {table: orders, operation: insert}", "copy.stream.operation", "has to be upsert for changes"),
        (f"{FILES}, stream: {{table: orders}}", "copy.stream", "a source of files, too"),
        (f"{FILES}, stream: {{max_commits: 5}}", "copy.stream.max_commits", "files have no commits"),
        (f"{FILES}, stream: {{operation: insert}}", "copy.stream.operation", "source.operation says it"),
        (
            "source: {path: /land, format: csv, operation: delete}, keys: {record_key: id}, stream: {}",
            "copy.source.operation",
            "upsert, insert or bulk_insert for a stream",
        ),
        (f"{FILES}, stream: {{}}, ingest: {{schedule: '0 * * * *'}}", "copy.stream", "that ingest.schedule loads"),
        (
            f"{FILES}, stream: {{mode: continuous, schedule: '0 * * * *'}}",
            "copy.stream.schedule",
            "contradicts mode: continuous",
        ),
        (f"{FILES}, stream: {{commits_by: any}}", "copy.stream.commits_by", "files have no commits"),
        (
            "keys: {record_key: id}, stream: {path: /x, commits_by: any}",
            "copy.stream.commits_by",
            "needs a table of the",
        ),
        (
            "keys: {record_key: id}, stream: {table: orders, mode: continuous, commits_by: any}",
            "copy.stream.commits_by",
            "contradicts mode: continuous",
        ),
        ("stream: {table: orders, raed: rows}", "copy.stream.raed", "did you mean 'read'"),
        (f"{FILES}, stream: {{run_for: 5}}", "copy.stream.run_for", "has no unit"),
        (
            f"{FILES}, stream: {{hoodie: {{hoodie.datasource.write.operation: insert}}}}",
            "copy.stream.hoodie.hoodie.datasource.write.operation",
            "stream.operation",
        ),
    ],
)
def test_mistakes(tmp_path, entry, key, message):
    mistakes = {mistake.key: mistake.message for mistake in read(tmp_path, entry).mistakes}
    assert message in mistakes.get(key, ""), mistakes
