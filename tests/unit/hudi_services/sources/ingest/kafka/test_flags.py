"""The flags of a topic: those of the registry make the same source, and mistakes are named without secrets."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from hoodie.errors import ConfigError
from hudi_services.entry.call import Call
from hudi_services.entry.dag import RunRequest
from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import MESSAGE_OPTIONS
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from hudi_services.sources.cdc.messages.messages import _FORMATS
from hudi_services.sources.ingest.entry import INGEST

SERVER = KafkaServer.model_validate(
    {"type": "kafka", "connection": "events", "tls": "off", "schema_registry": {"url": "http://s:1", "connection": "s"}}
)
SOURCE = {"server": "events", "topic": "orders", "format": "debezium-json", "table": "shop.orders"}


@pytest.fixture(autouse=True)
def connection(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_EVENTS", "kafka://broker")


def table(**more):
    entry = {"name": "orders", "base_path": "/lake/orders", "keys": {"record_key": "id"}, "source": {**SOURCE, **more}}
    found = table_model(ENTRIES).model_validate(entry)
    return found.model_copy(update={"source": found.source.on(SERVER)})


def problems_of(**more):
    made = table(**more)
    return INGEST.section.contradictions(made, INGEST.section_of(made))


def called(of, **params):
    arguments = INGEST.called_with(of, RunRequest(params=params))
    return INGEST.command.called(Call(of.base_path, arguments.options), arguments.flags)


def test_the_command_gets_the_source_of_the_registry():
    task = called(table(max_messages=7, statements="skip", quarantine={"max_share": 0.1}))
    source = task.request.source
    assert (source.server, source.topic, source.table) == ("events", "orders", "shop.orders")
    assert (source.max_messages, source.skips_statements, task.request.max_bad_share) == (7, True, 0.1)
    assert source.settings["bootstrap.servers"] == "broker:9092"
    assert task.request.options["hoodie.datasource.write.recordkey.field"] == "id"
    assert (task.request.start_fresh, called(table(), start_fresh=True).request.start_fresh) == (False, True)


def test_masks_and_the_key_of_hashes(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_PEPPER", "generic://:secret@")
    masked = table(masks={"email": "hash", "a=b": "drop"})
    with pytest.raises(ConfigError, match="has no hash_key"):
        called(masked)
    server = SERVER.model_copy(update={"hash_key": "pepper"})
    masked = masked.model_copy(update={"source": masked.source.on(server)})
    masks = called(masked).request.source.masks
    assert (masks.columns, masks.secret) == ({"email": "hash", "a=b": "drop"}, "secret")
    assert "secret" not in " ".join(INGEST.called_with(masked, RunRequest()).flags)
    for wrong in (("email",), ("email=hash", "email=mask"), ("email=shred",)):
        with pytest.raises(ConfigError, match=r"mask"):
            INGEST.command.called(
                Call("/lake/orders", {}),
                [
                    *INGEST.called_with(table(), RunRequest()).flags,
                    *(part for text in wrong for part in ("--mask", text)),
                ],
            )


def test_masks_of_keys_are_refused_in_the_registry():
    problems = dict(problems_of(masks={"id": "drop", "email": "drop"}))
    assert list(problems) == [("source", "masks", "id")]
    assert "hash it" in problems["source", "masks", "id"]
    assert not dict(problems_of(masks={"id": "hash"}))


def test_no_secret_and_no_two_braces_are_in_a_flag(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_EVENTS", "kafka://me:secret@broker")
    said = " ".join(INGEST.called_with(table(), RunRequest()).flags)
    assert "secret" not in said
    assert "}}" not in said


def test_a_topic_has_no_dates_and_no_files():
    assert INGEST.has_dag(table())
    assert [field.name for field in INGEST.dag.form(table())] == ["operation", "start_fresh"]
    assert INGEST.dag.notes(table())[0] == "source: topic orders of events (debezium-json, table shop.orders)"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "needs the server of the topic"),
        (["--source-server", "{"], "is no JSON"),
        (["--source-server", "[]"], "is no JSON object"),
        (["--source-server", '{"type": "kafka", "connection": "a:secret@b"}'], "connection has to be the id"),
        (["--source-server", '{"type": "kafka", "connection": "other"}'], "no environment variable AIRFLOW_CONN_OTHER"),
        (["--message-option", "zone=UTC"], "zone has no effect on messages in debezium-json"),
        (["--source-format", "maxwell-json", "--message-option", "zone=nowhere"], "zone .*nowhere"),
        (["--source-format", "json", "--message-option", "decimals=x"], "decimals .*'bytes'"),
        (["--message-option", "zon=UTC"], "cannot be 'zon=UTC'.*keys are zone"),
        (["--message-option", "zone"], "cannot be 'zone'"),
        (["--message-option", "deleted=a", "--message-option", "deleted=b"], "a key twice"),
        (["--source-format", "debezium-avro"], "need a registry of schemas"),
        (["--source-path", "/land"], "--source-path contradicts --source-topic"),
        (["--reload"], "--reload contradicts --source-topic"),
        (["--source-format", "csv"], "format .*'csv'"),
        (["--source-table", "orders"], "write DATABASE.TABLE"),
        (["--source-format", "json", "--source-table", "a.b"], "table has no effect on messages in json"),
    ],
)
def test_flags_that_cannot_be(flags, message):
    given = ["--source-topic", "orders", *([] if "--source-format" in flags else ["--source-format", "debezium-json"])]
    if flags and "--source-server" not in flags:
        given += ["--source-server", '{"type": "kafka", "connection": "events", "tls": "off"}']
    with pytest.raises(ConfigError, match=message) as raised:
        INGEST.command.called(Call("/lake/orders", {}), [*given, *flags])
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--source-server", "{}"), ("--source-table", "a.b"), ("--message-option", "zone=UTC"), ("--mask", "email=hash")],
)
def test_flags_of_topics_are_not_for_files(flag, value):
    with pytest.raises(ConfigError, match=f"{flag} has no effect.*no --source-topic"):
        INGEST.command.called(Call("/lake/orders", {}), ["--source-path", "/land", flag, value])


def test_what_the_messages_do_not_say_comes_from_the_registry(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_S", "http://me:p%40ss@anywhere")
    maxwell = called(table(format="maxwell-json", zone="UTC")).request.source.format
    assert (maxwell.zone, maxwell.table) == ("UTC", "shop.orders")
    avro = called(table(format="debezium-avro", unavailable="?")).request.source.format
    assert (avro.unavailable, avro.registry.url) == ("?", "http://s:1")
    assert (avro.registry.user, avro.registry.password) == ("me", "p@ss")
    monkeypatch.delenv("AIRFLOW_CONN_S")
    with pytest.raises(ConfigError, match=r"'s' of the schema registry cannot be used.*AIRFLOW_CONN_S"):
        called(table(format="debezium-avro"))


def test_the_options_of_messages_are_the_parameters_of_their_formats():
    for name, made in _FORMATS.items():
        parameters = {field.name for field in fields(made)} - {"registry"}
        assert parameters == {option for option, formats in MESSAGE_OPTIONS.items() if name in formats}, name


def test_a_server_without_a_name_is_called_by_its_connection():
    server = json.dumps({"type": "kafka", "connection": "events", "tls": "off"})
    given = ["--source-topic", "orders", "--source-format", "debezium-json", "--source-server", server]
    task = INGEST.command.called(Call("/lake/orders", {}), given)
    assert task.request.source.name == "topic orders of server events"
