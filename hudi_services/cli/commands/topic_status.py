"""The part of `cdc status` for servers of Kafka: how many messages the tables of their topics lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from hudi_services.entry.server import KafkaServer
from hudi_services.registry.load import Registry

if TYPE_CHECKING:
    from hudi_services.operations.inspect.page import Page


def topic_page(name: str, server: KafkaServer, registry: Registry, environ: Mapping[str, str]) -> Page:
    """Return the page of the server `name`. Raises SourceUnavailableError where the brokers do not answer."""
    from hudi_services.cli.commands.cdc_sync import tables_behind
    from hudi_services.operations.inspect.page import Column, Listing, Page, Part
    from hudi_services.sources.ingest.kafka.brokers import topic_state
    from hudi_services.sources.ingest.kafka.connection import client_settings
    from hudi_services.sources.ingest.kafka.lag import topic_lags

    settings = client_settings(server, environ)
    lags = topic_lags(registry.tables, name, lambda topic: topic_state(settings, name, topic))
    rows = [asdict(lag) for lag in lags]
    columns = (
        Column("table", "table"),
        Column("topic", "topic"),
        Column("state", "state"),
        Column("messages", "messages that wait", lambda count: f"{count:,}", right=True),
        Column("partitions", "in partitions", right=True),
        Column("moved", "last position"),
    )
    parts: list[Part] = [Listing(columns, rows, name, "no table of the registry is loaded from its topics")]
    return Page({"server": name, "tables": rows}, parts, tables_behind(rows, parts))
