"""The flags of a command that name a topic."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from hoodie.errors import ConfigError
from hudi_services.entry.feed.flag import json_flag
from hudi_services.entry.mistake_text import mistake_message, place_of
from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import CHANGE_FORMATS, MAX_MESSAGES, MESSAGE_OPTIONS, ROW_FORMATS, TopicSource

if TYPE_CHECKING:  # it loads Arrow
    from hudi_services.sources.ingest.kafka.source import TopicSource as Topic

FORMATS = (*CHANGE_FORMATS, *ROW_FORMATS)
FLAGS = (
    click.Option(["--source-topic"], metavar="TOPIC", help="Topic of Kafka to load, in place of files."),
    click.Option(
        ["--source-server"],
        metavar="JSON",
        help="The server of the topic, with the keys of docs/reference/kafka.md, such as "
        """'{"type": "kafka", "connection": "events"}'.""",
    ),
    click.Option(
        ["--source-table"],
        metavar="DATABASE.TABLE",
        help="Take only changes of this table, if the topic has several.",
    ),
    click.Option(
        ["--message-option"],
        multiple=True,
        metavar="KEY=VALUE",
        help="A key of docs/reference/kafka.md that says what the messages do not, such as zone=UTC. Repeatable.",
    ),
    click.Option(
        ["--mask"],
        multiple=True,
        metavar="COLUMN=KIND",
        help="Keep the values of a column out of the lake: mask (***), hash or drop. Repeatable.",
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
    server_json = json.dumps({"name": source.server, **source.declared.model_dump(exclude_defaults=True)})
    flags = [
        "--source-topic",
        source.topic,
        "--source-format",
        source.format,
        "--source-server",
        json_flag(server_json),
    ]
    options = source.message_options
    table = options.pop("table", None)
    flags += ["--source-table", table] if table is not None else []
    flags += [part for name, value in options.items() for part in ("--message-option", f"{name}={value}")]
    flags += [part for name, kind in source.masks.items() for part in ("--mask", f"{name}={kind}")]
    flags += ["--statements", source.statements] if source.statements != "stop" else []
    return flags + (["--max-messages", str(source.max_messages)] if source.max_messages != MAX_MESSAGES else [])


def topic_of_flags(
    source_format: str,
    source_topic: str,
    source_server: str | None,
    source_table: str | None,
    message_option: tuple[str, ...],
    mask: tuple[str, ...] = (),
    **more: Any,
) -> Topic:
    """The source that flags name. Raises ConfigError for what they say and cannot be."""
    from hudi_services.sources.cdc.masks import source_masks
    from hudi_services.sources.ingest.kafka.connection import client_settings
    from hudi_services.sources.ingest.kafka.formats import topic_format
    from hudi_services.sources.ingest.kafka.source import TopicSource as Topic

    name, declared = _server(source_server)
    values = {
        "server": name, "topic": source_topic, "format": source_format, "table": source_table,
        "masks": _masks(mask), **_options(message_option), **more,
    }  # fmt: skip
    try:
        source = TopicSource.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        raise _wrong(
            "The source", [f"{place_of(fault)[0]} {mistake_message(fault, TopicSource)}" for fault in error.errors()]
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
        source.format in ROW_FORMATS,
        source.max_messages,
        masks=source_masks(f"The topic {source.topic}", source.masks, name, declared.hash_key, os.environ),
    )


def contradictions(source: TopicSource) -> Iterator[tuple[tuple[str, ...], str]]:
    """Keys that have no effect on messages of the format, and why."""
    for name in source.message_options:
        if source.format not in (formats := MESSAGE_OPTIONS[name]):
            yield (name,), f"has no effect on messages in {source.format}, only in {', '.join(formats)}"


def _options(texts: Sequence[str]) -> dict[str, str]:
    names = [name for name in MESSAGE_OPTIONS if name != "table"]
    result: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or name not in names or name in result:
            raise ConfigError(
                f"--message-option cannot be {text!r:.100}",
                found="a key twice" if name in result else "no key of messages and its value",
                fix=f"write KEY=VALUE once for each; keys are {', '.join(names)}",
            )
        result[name] = value
    return result


def _masks(texts: Sequence[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    for text in texts:
        name, _, kind = text.rpartition("=")
        if not name or name in result:
            raise ConfigError(
                f"--mask cannot be {text!r:.100}",
                found="a column twice" if name else "no column and its mask",
                fix="write COLUMN=mask, COLUMN=hash or COLUMN=drop once for each column",
            )
        result[name] = kind
    return result


def _wrong(title: str, mistakes: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"{title} is not right", found="; ".join(mistakes), fix="correct it as docs/reference/kafka.md says"
    )


def _server(text: str | None) -> tuple[str, KafkaServer]:
    if text is None:
        raise ConfigError(
            "--source-topic needs the server of the topic",
            fix="""pass --source-server '{"type": "kafka", "connection": "…"}', or --table NAME of a registry that names it""",
        )
    values = _json(text)
    name = str(values.pop("name", values.get("connection", "")))
    try:
        return name, KafkaServer.model_validate(values)
    except ValidationError as error:
        wrong = [
            f"{'.'.join(map(str, fault['loc']))} {mistake_message(fault, KafkaServer, secret=True)}"
            for fault in error.errors()
        ]
        raise _wrong("--source-server", wrong) from None


def _json(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ConfigError(
            "--source-server is no JSON", found=str(error), fix="correct it as docs/reference/kafka.md says"
        ) from None
    if not isinstance(values, dict):
        raise ConfigError("--source-server is no JSON object", fix="correct it as docs/reference/kafka.md says")
    return values
