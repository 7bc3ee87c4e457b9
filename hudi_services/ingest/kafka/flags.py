"""The flags of a command that name a topic."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from hoodie.errors import ConfigError
from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import CHANGE_FORMATS, MAX_MESSAGES, ROW_FORMATS, ZONED, TopicSource
from hudi_services.entry.words import place_of, told
from hudi_services.feed.flag import json_flag

if TYPE_CHECKING:  # it loads Arrow
    from hudi_services.ingest.kafka.source import TopicSource as Topic

FORMATS = (*CHANGE_FORMATS, *ROW_FORMATS)
FLAGS = (
    click.Option(["--source-topic"], metavar="TOPIC", help="Topic of Kafka to load, in place of files."),
    click.Option(
        ["--source-server"],
        metavar="JSON",
        help="The server of the topic, with the keys of docs/kafka.md, such as "
        """'{"type": "kafka", "connection": "events"}'.""",
    ),
    click.Option(
        ["--source-table"],
        metavar="DATABASE.TABLE",
        help="Take only changes of this table, if the topic has several.",
    ),
    click.Option(
        ["--source-zone"], metavar="ZONE", help="The time zone of TIMESTAMP in messages of Maxwell, such as UTC."
    ),
    click.Option(
        ["--unavailable"],
        metavar="TEXT",
        help="The text that Debezium sends for values it does not know, if it is not its own.",
    ),
    click.Option(
        ["--statements"],
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="At statements in a topic, such as TRUNCATE, stop, or go on past them.",
    ),
    click.Option(
        ["--max-messages"],
        type=click.IntRange(min=1),
        default=MAX_MESSAGES,
        show_default=True,
        help="Messages of a commit at most.",
    ),
)


def flags_of_topic(source: TopicSource) -> list[str]:
    """The flags of a source of the registry."""
    said = json.dumps({"name": source.server, **source.declared.model_dump(exclude_defaults=True)})
    flags = ["--source-topic", source.topic, "--source-format", source.format, "--source-server", json_flag(said)]
    for flag, value, default in (
        ("--source-table", source.table, None),
        ("--statements", source.statements, "stop"),
        ("--source-zone", source.zone, None),
        ("--unavailable", source.unavailable, None),
        ("--max-messages", source.max_messages, MAX_MESSAGES),
    ):
        flags += [flag, str(value)] if value != default else []
    return flags


def topic_of_flags(
    source_format: str,
    source_topic: str,
    source_server: str | None,
    source_table: str | None,
    source_zone: str | None,
    unavailable: str | None,
    **more: Any,
) -> Topic:
    """The source that flags name. Raises ConfigError for what they say and cannot be."""
    from hudi_services.ingest.kafka.connection import client_settings
    from hudi_services.ingest.kafka.formats import topic_format
    from hudi_services.ingest.kafka.source import TopicSource as Topic

    name, declared = _server(source_server)
    said = {
        "server": name, "topic": source_topic, "format": source_format, "table": source_table,
        "zone": source_zone, "unavailable": unavailable, **more,
    }  # fmt: skip
    try:
        source = TopicSource.model_validate({key: value for key, value in said.items() if value is not None})
    except ValidationError as error:
        raise _wrong(
            "The source", [f"{place_of(each)[0]} {told(each, TopicSource)}" for each in error.errors()]
        ) from None
    if wrong := [f"{'.'.join(path)} {message}" for path, message in contradictions(source)]:
        raise _wrong("The source", wrong)
    return Topic(
        name,
        source.topic,
        client_settings(declared, os.environ),
        topic_format(source, declared, os.environ),
        source.table,
        source.statements == "skip",
        source.max_messages,
    )


def contradictions(source: TopicSource) -> Iterator[tuple[tuple[str, ...], str]]:
    """Keys that have no effect on messages of the format, and why."""
    if source.format in ROW_FORMATS and source.table is not None:
        yield ("table",), f"has no effect: messages in {source.format} do not name their table"
    if source.format not in ZONED and source.zone is not None:
        yield ("zone",), f"has no effect on {source.format}: only {', '.join(ZONED)} does not say the zone of times"
    if not source.format.startswith("debezium") and source.unavailable is not None:
        yield ("unavailable",), f"has no effect on {source.format}: Debezium sends it"


def _wrong(what: str, mistakes: Sequence[str]) -> ConfigError:
    return ConfigError(f"{what} is not right", found="; ".join(mistakes), fix="correct it as docs/kafka.md says")


def _server(said: str | None) -> tuple[str, KafkaServer]:
    if said is None:
        raise ConfigError(
            "--source-topic needs the server of the topic",
            fix="""pass --source-server '{"type": "kafka", "connection": "…"}', or --table NAME of a registry that names it""",
        )
    values = _json(said)
    name = str(values.pop("name", values.get("connection", "")))
    try:
        return name, KafkaServer.model_validate(values)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, each['loc']))} {told(each, KafkaServer, secret=True)}" for each in error.errors()]
        raise _wrong("--source-server", wrong) from None


def _json(said: str) -> dict[str, Any]:
    try:
        values = json.loads(said)
    except ValueError as error:
        raise ConfigError(
            "--source-server is no JSON", found=str(error), fix="correct it as docs/kafka.md says"
        ) from None
    if not isinstance(values, dict):
        raise ConfigError("--source-server is no JSON object", fix="correct it as docs/kafka.md says")
    return values
