"""Servers in the registry, and tables whose source is a topic or a table of one."""

from __future__ import annotations

from datetime import date

import pytest

from hoodie.errors import RegistryError
from hudi_services.cli.commands.registry_check import checked
from hudi_services.entry.dag import RunRequest
from hudi_services.entry.server import DatabaseServer, KafkaServer
from hudi_services.entry.source import DatabaseSource, TopicSource
from hudi_services.registry.load import read_registry
from hudi_services.sources.ingest.entry import INGEST

SERVERS = """\
servers:
  shop: {type: mysql, connection: shop_db, server_id: 5401, databases: [shop]}
  events: {type: kafka, connection: events, sasl: PLAIN, schema_registry: {url: "https://schemas:8081", connection: schemas}}
  plain: {type: kafka, connection: plain, tls: off}
  wrong: {type: kafka, connection: "kafka://me:secret@broker:9092"}
  other: {type: rabbit, connection: x}
  bare: {connection: x}
  urls: {type: kafka, connection: x, schema_registry: {url: "https://me:secret@schemas"}}
tables:
"""


def of_source(number: int, source: str, more: str = "keys: {record_key: id}") -> str:
    return f"  - {{name: t{number}, base_path: /t{number}, source: {{{source}}}, {more}}}\n"


@pytest.fixture
def read(tmp_path):
    def read(*tables: str):
        file = tmp_path / "tables.yaml"
        file.write_text(SERVERS + "".join(tables))
        found = read_registry(file)
        return found.registry, {each.key: each.message for each in found.mistakes}

    return read


def test_servers_are_chosen_by_their_type_and_mistakes_show_no_secret(read):
    registry, mistakes = read()
    assert isinstance(registry.servers["shop"], DatabaseServer)
    events = registry.servers["events"]
    assert isinstance(events, KafkaServer)
    assert (events.tls, events.sasl, events.schema_registry.url) == ("verify", "PLAIN", "https://schemas:8081")
    assert registry.servers["plain"].tls == "off"
    assert mistakes == {
        "servers.wrong.connection": "has to be the id of an Airflow connection: letters, digits, `_`, `-` and `.`. "
        "No address or password",
        "servers.other.type": "has to be 'mysql' or 'kafka'",
        "servers.bare.type": "is missing: mysql or kafka",
        "servers.urls.schema_registry.url": "holds a user or password: name a `connection` instead",
    }


def test_a_table_gets_its_server(read):
    registry, mistakes = read(
        of_source(0, "server: events, topic: orders, format: debezium-avro, table: shop.orders, max_messages: 5"),
        of_source(1, "server: shop, table: shop.orders", "retries: 1"),
        of_source(2, "path: /land, format: csv"),
    )
    assert not [key for key in mistakes if not key.startswith("servers")]
    topic, database, files = registry.tables
    assert isinstance(topic.source, TopicSource)
    assert topic.source.declared is registry.servers["events"]
    assert topic.source.shown == "topic orders of events (debezium-avro, table shop.orders)"
    assert topic.source.max_messages == 5
    assert topic.folder is None
    assert topic.filled_here
    assert isinstance(database.source, DatabaseSource)
    assert (database.source.shown, database.source.address) == ("table shop.orders of shop", "mysql://shop/shop.orders")
    assert files.folder is files.source


@pytest.mark.parametrize(
    ("source", "more", "key", "message"),
    [
        ("server: event, topic: t, format: json", "", "source.server", "did you mean 'events'?"),
        ("server: nothing, topic: t, format: json", "", "source.server", "no server of the registry; known: bare, events"),
        ("server: wrong, topic: t, format: json", "", "source.server", "has mistakes"),
        ("server: shop, topic: t, format: json", "", "source.server", "is a database server"),
        ("server: events, table: a.b", "", "source.server", "is a server of Kafka: name a `topic`"),
        ("server: shop, table: b.orders", "", "source.server", "whose `databases` lack 'b'"),
        ("server: shop, table: orders", "", "source.table", "write DATABASE.TABLE"),
        ("server: plain, topic: t, format: avro", "", "source.server", "has no schema_registry: avro needs one"),
        ("server: events", "", "source.topic", "is missing"),
        ("server: events, topic: a/b, format: json", "", "source.topic", "'a/b' is no topic"),
        ("server: events, topic: t, format: csv", "", "source.format", "'canal-json'"),
        ("server: events, topic: t, format: json, max_message: 5", "", "source.max_message", "did you mean 'max_messages'?"),
        ("server: events, topic: t, format: json, path: /x", "", "source.path", "is not an option"),
        ("server: events, topic: t, format: json, quarantine: {files: skip}", "", "source.quarantine.files", "known: path"),
        ("server: events, topic: t, format: json, table: a.b", "", "source.table", "has no effect on messages in json"),
        ("server: events, topic: t, format: json", "keys: null", "keys", "needs the columns of its record key"),
        ("server: events, topic: t, format: canal-json", "keys: {record_key: id, ordering: at}", "keys.ordering", "remove it"),
        ("server: events, topic: t, format: json", "ingest: {catchup: true}", "ingest.catchup", "has no effect without files"),
        ("path: /land, format: csv, patern: x", "", "source.patern", "did you mean 'pattern'?"),
        ("path: /land, format: csv, csv: {delimter: x}", "", "source.csv.delimter", "did you mean 'delimiter'?"),
    ],
)  # fmt: skip
def test_mistakes_of_sources(read, source, more, key, message):
    keys = "" if more.startswith("keys") else "keys: {record_key: id}"
    registry, mistakes = read(of_source(0, source, ", ".join(filter(None, (more, keys)))))
    assert message in mistakes[f"t0.{key}"]
    assert not registry.tables


@pytest.mark.parametrize(
    ("source", "stream", "more", "key", "message"),
    [
        ("server: shop, table: a.b", "{}", "", "", "kept up to date by `hudi-services cdc sync shop`"),
        ("server: events, topic: t, format: json", "{max_commits: 5}", "", ".max_commits", "topics have no commits"),
        ("server: events, topic: t, format: json", "{operation: upsert}", "", ".operation", "applied by an upsert"),
        ("server: events, topic: t, format: json", "{history: insert}", "", ".history", "all messages are applied by an"),
        ("server: events, topic: t, format: json", "{}", ", ingest: {schedule: '@daily'}", "", "loads the messages that"),
        ("server: events, topic: t, format: json", "{mode: continuous, schedule: '@daily'}", "", ".schedule", "contradicts"),
    ],
)  # fmt: skip
def test_a_stream_takes_topics_but_no_database(read, source, stream, more, key, message):
    _, mistakes = read(of_source(0, source, f"stream: {stream}, keys: {{record_key: id}}{more}"))
    assert message in mistakes[f"t0.stream{key}"]


def test_registry_check_shows_the_source(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text(SERVERS + of_source(0, "server: events, topic: orders, format: json"))
    [table] = checked(str(file), date(2026, 1, 1)).tables
    assert table.source == "topic orders of events (json)"


def test_a_table_of_a_database_is_not_loaded_by_this_service(read):
    registry, _ = read(of_source(0, "server: shop, table: shop.orders"))
    [table] = registry.tables
    assert not INGEST.has_dag(table)
    with pytest.raises(RegistryError, match="cdc sync shop"):
        INGEST.called_with(table, RunRequest())
