"""Servers in the registry, whose tables or topics are loaded into Hudi tables."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from hudi_services.entry.dag import DAG_PREFIX
from hudi_services.entry.feed.model import Part
from hudi_services.entry.schedule import cron

_CONNECTION = re.compile(r"[A-Za-z0-9_.-]{1,200}")


def _connection(value: str) -> str:
    # A URL may hold a password, so the message does not repeat the value.
    if not _CONNECTION.fullmatch(value):
        raise ValueError(
            "has to be the id of an Airflow connection: letters, digits, `_`, `-` and `.`. No address or password"
        )
    return value


def _word(value: object) -> object:
    return "off" if value is False else value  # YAML takes `off` for false


Cron = Annotated[str, AfterValidator(cron)]
Connection = Annotated[str, AfterValidator(_connection)]
Tls = Annotated[Literal["verify", "encrypt", "off"], BeforeValidator(_word)]


class DatabaseServer(Part):
    """A server of MySQL or MariaDB.

    `connection` is the id of an Airflow connection with host, port, user and password. Outside Airflow the environment variable
    `AIRFLOW_CONN_<ID>` holds it, as Airflow writes it: `mysql://user:password@host:3306`. `tls` is `verify` (the certificate has
    to be signed by an authority of the machine, or by those in the file `ca`, and to name the host), `encrypt` (any certificate)
    or `off`. `server_id` is the number by which this reader registers at the server as a replica. No other replica may have it.
    `databases` are those that are read. Empty means all that the user sees. `state` is a folder that says how far all tables
    are, and which are parked. With a `schedule` (cron) a DAG brings the tables up to date. By `verify_schedule` another one
    compares all of them with the server. `hash_key` is the id of an Airflow
    connection whose password goes into the hashes of masked columns.
    """

    type: Literal["mysql"]
    connection: Connection
    tls: Tls = "verify"
    ca: str | None = None
    server_id: Annotated[int, Field(ge=1, le=2**32 - 1)]
    databases: tuple[str, ...] = ()
    state: str | None = None
    schedule: Cron | None = None
    verify_schedule: Cron | None = None
    owner: str = "airflow"
    hash_key: Connection | None = None


def database_dag(server: str) -> str:
    """Return the id of the DAG that brings the tables of a database server up to date."""
    return f"{DAG_PREFIX}_database__{server}"


def verify_dag(server: str) -> str:
    """Return the id of the DAG that compares the tables of a database server."""
    return f"{DAG_PREFIX}_database_verify__{server}"


def resync_dag(server: str) -> str:
    """Return the id of the DAG that compares one table of a database server, and writes what differs."""
    return f"{DAG_PREFIX}_database_resync__{server}"


def server_dags(server: str, declared: DatabaseServer) -> tuple[str, ...]:
    """Return the ids of all DAGs of a database server: none without a schedule. They do not grow with its tables."""
    return (database_dag(server), verify_dag(server), resync_dag(server)) if declared.schedule is not None else ()


def _url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("has to be a URL such as https://schemas.example.com:8081")
    if "@" in parts.netloc:
        raise ValueError("holds a user or password: name a `connection` instead")
    return value.rstrip("/")


class SchemaRegistry(Part):
    """A registry of schemas with the protocol of Confluent's, for messages in Avro.

    `connection` is the id of an Airflow connection with its user and password. `ca` is as for a `DatabaseServer`.
    """

    url: Annotated[str, AfterValidator(_url)]
    connection: Connection | None = None
    ca: str | None = None


class KafkaServer(Part):
    """The brokers of a Kafka cluster.

    `connection` is the id of an Airflow connection with the brokers, and user and password if `sasl` is set. Outside Airflow the
    environment variable `AIRFLOW_CONN_<ID>` holds it: `kafka://user:password@broker1:9092,broker2:9092`. `tls` and `ca` are as
    for a `DatabaseServer`. `sasl` is the mechanism by which the user logs in. `hash_key` is the id of a connection whose password
    is the key of hashed columns.
    """

    type: Literal["kafka"]
    connection: Connection
    tls: Tls = "verify"
    ca: str | None = None
    sasl: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    schema_registry: SchemaRegistry | None = None
    hash_key: Connection | None = None


SERVER_KINDS: dict[str, type[DatabaseServer] | type[KafkaServer]] = {"mysql": DatabaseServer, "kafka": KafkaServer}
"""The model of each `type` of server."""
AnyServer: TypeAlias = DatabaseServer | KafkaServer
