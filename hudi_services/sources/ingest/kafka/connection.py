"""How to reach the brokers of a Kafka server: the Airflow connection that the registry names, as settings of the client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from hoodie.errors import ConfigError
from hudi_services.entry.server import KafkaServer
from hudi_services.sources.cdc.credentials import variable_of

_PORT = 9092
_FIX = (
    "to kafka://USER:PASSWORD@BROKER:9092, with commas between brokers. "
    "In a password, write `@`, `:` and `/` as %40, %3A and %2F"
)


@dataclass(frozen=True)
class Login:
    """Addresses as `host:port,host:port`, user and password. The password is in no text of it."""

    addresses: str
    user: str = ""
    password: str = field(default="", repr=False)


def login(connection: str, environ: Mapping[str, str]) -> Login:
    """Read the variable `AIRFLOW_CONN_<ID>`, as a URL or as JSON (both are forms of Airflow).

    Brokers may be in the host, or in `bootstrap.servers` of the extra. Raises ConfigError, which never shows the value.
    """
    variable = variable_of(connection)
    text = environ.get(variable, "").strip()
    if not text:
        raise ConfigError(
            f"The connection {connection!r} is unknown",
            found=f"no environment variable {variable}",
            fix=f"set it {_FIX}",
        )
    try:
        result = _of_json(text) if text.startswith("{") else _of_url(text)
    except (ValueError, TypeError, AttributeError):
        raise _unusable(variable, "a value that is neither a URL nor JSON of Airflow") from None
    if not result.addresses:
        raise _unusable(variable, "no host")
    return result


def registry_login(connection: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """User and password for a registry of schemas. Raises ConfigError, which never shows a value."""
    variable = variable_of(connection)
    try:
        text = environ.get(variable, "").strip()
        result = _of_json(text) if text.startswith("{") else _of_url(text)
    except (ValueError, TypeError, AttributeError):
        result = Login("")
    if not result.user:
        raise ConfigError(
            f"The connection {connection!r} of the schema registry cannot be used",
            found=f"no user in the environment variable {variable}",
            fix="set it to http://USER:PASSWORD@HOST, with `@`, `:` and `/` of a password as %40, %3A and %2F",
        )
    return result.user, result.password


def client_settings(server: KafkaServer, environ: Mapping[str, str]) -> dict[str, Any]:
    """Settings of librdkafka for a server. Raises ConfigError for a connection that is not known or lacks a part."""
    credentials = login(server.connection, environ)
    encrypted = server.tls != "off"
    settings: dict[str, Any] = {
        "bootstrap.servers": credentials.addresses,
        "client.id": "hudi-services",
        "security.protocol": f"{'SASL_' if server.sasl else ''}{'SSL' if encrypted else 'PLAINTEXT'}",
    }
    if server.sasl is not None:
        if not (credentials.user and credentials.password):
            raise _unusable(variable_of(server.connection), f"no user and password, which sasl {server.sasl} needs")
        settings |= {
            "sasl.mechanism": server.sasl,
            "sasl.username": credentials.user,
            "sasl.password": credentials.password,
        }
    elif credentials.user:
        raise ConfigError(
            f"The connection {server.connection!r} has a user, and the server does not say how it logs in",
            fix="add `sasl: PLAIN`, SCRAM-SHA-256 or SCRAM-SHA-512 to the server in the registry",
        )
    if encrypted and server.ca is not None:
        settings["ssl.ca.location"] = server.ca
    if server.tls == "encrypt":
        settings |= {"enable.ssl.certificate.verification": False, "ssl.endpoint.identification.algorithm": "none"}
    return settings


def _of_url(text: str) -> Login:
    parts = urlsplit(text)
    if not parts.scheme or "//" not in text:
        raise ValueError
    userinfo, _, hosts = parts.netloc.rpartition("@")
    user, _, password = userinfo.partition(":")
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    extra = json.loads(query["__extra__"]) if "__extra__" in query else query
    return _login(unquote(hosts), None, unquote(user), unquote(password), extra)


def _of_json(text: str) -> Login:
    values = json.loads(text)
    extra = values.get("extra") or {}
    extra = json.loads(extra) if isinstance(extra, str) else extra
    user, password = str(values.get("login") or ""), str(values.get("password") or "")
    return _login(str(values.get("host") or ""), values.get("port"), user, password, extra)


def _login(hosts: str, port: int | None, user: str, password: str, extra: Mapping[str, Any]) -> Login:
    named = [host.strip() for host in (hosts or str(extra.get("bootstrap.servers") or "")).split(",") if host.strip()]
    addresses = [host if _has_port(host) else f"{host}:{port or _PORT}" for host in named]
    user = user or str(extra.get("sasl.username") or "")
    return Login(",".join(addresses), user, password or str(extra.get("sasl.password") or ""))


def _has_port(address: str) -> bool:
    return address.rpartition(":")[2].isdigit() and not address.endswith("]")


def _unusable(variable: str, cause: str) -> ConfigError:
    return ConfigError(f"The environment variable {variable} names no brokers", found=cause, fix=f"set it {_FIX}")
