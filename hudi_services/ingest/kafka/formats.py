"""The formats of messages that a topic may have."""

from __future__ import annotations

from collections.abc import Mapping

from hudi_services.cdc.messages.contract import MessageFormat
from hudi_services.cdc.messages.messages import message_format
from hudi_services.entry.server import KafkaServer


def topic_format(name: str, server: KafkaServer, table: str | None, environ: Mapping[str, str]) -> MessageFormat:
    """The format `name`; with `table` other tables' messages are passed over."""
    return message_format(name, table=table)
