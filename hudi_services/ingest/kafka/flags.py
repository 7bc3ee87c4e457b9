"""The flags of a command that name a topic."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from hoodie.errors import ConfigError
from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import CHANGE_FORMATS, MAX_MESSAGES, ROW_FORMATS, TopicSource, server_table, topic_name
from hudi_services.entry.words import told
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
    flags += ["--source-table", source.table] if source.table is not None else []
    flags += ["--statements", source.statements] if source.statements != "stop" else []
    return flags + (["--max-messages", str(source.max_messages)] if source.max_messages != MAX_MESSAGES else [])


def topic_of_flags(
    topic: str, file_format: str, server: str | None, table: str | None, statements: str, max_messages: int
) -> Topic:
    """The source that flags name. Raises ConfigError for what they say and cannot be."""
    from hudi_services.ingest.kafka.connection import client_settings
    from hudi_services.ingest.kafka.formats import topic_format
    from hudi_services.ingest.kafka.source import TopicSource as Topic

    if file_format not in FORMATS:
        raise ConfigError(
            f"Messages of a topic have no format {file_format!r}", fix=f"pass --source-format {' or '.join(FORMATS)}"
        )
    try:
        topic_name(topic)
        if table is not None:
            server_table(table)
    except ValueError as error:
        raise ConfigError(
            "--source-topic or --source-table names nothing that can be", found=str(error), fix="correct the name"
        ) from None
    if table is not None and file_format in ROW_FORMATS:
        raise ConfigError(
            "--source-table has no effect",
            found=f"messages in {file_format} do not name their table",
            fix="leave it out",
        )
    name, declared = _server(server)
    settings = client_settings(declared, os.environ)
    messages = topic_format(file_format, declared, table, os.environ)
    return Topic(name, topic, settings, messages, table, statements == "skip", max_messages)


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
        raise ConfigError(
            "--source-server is not right", found="; ".join(wrong), fix="correct it as docs/kafka.md says"
        ) from None


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
