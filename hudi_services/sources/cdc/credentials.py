"""How to reach a database server: the Airflow connection that the registry names, as an environment variable holds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from hoodie.errors import ConfigError

_PORT = 3306


@dataclass(frozen=True)
class Credentials:
    """Host, port (3306 where the connection names none), user and password. The password is in no text of it."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)


def variable_of(connection: str) -> str:
    """Return the environment variable in which Airflow keeps the connection of this id."""
    return f"AIRFLOW_CONN_{connection.upper()}"


def credentials(connection: str, environ: Mapping[str, str]) -> Credentials:
    """Return what the variable `AIRFLOW_CONN_<ID>` says, as a URL or as JSON (both are forms of Airflow).

    Raises ConfigError, which never shows the value, where the variable is missing or does not name a host and a user.
    """
    variable = variable_of(connection)
    text = environ.get(variable, "").strip()
    if not text:
        raise ConfigError(
            f"The connection {connection!r} is unknown",
            found=f"no environment variable {variable}",
            fix=f"set {variable} to mysql://USER:PASSWORD@HOST:PORT. In a password, write `@`, `:` and `/` as %40, %3A and %2F",
        )
    try:
        result = _of_json(text) if text.startswith("{") else _of_url(text)
    except (ValueError, TypeError, AttributeError):
        raise _unusable(variable, "a value that is neither a URL nor JSON of Airflow") from None
    missing = [name for name, value in (("host", result.host), ("user", result.user)) if not value]
    if missing:
        raise _unusable(variable, f"no {' and no '.join(missing)}")
    return result


def password_of(connection: str, environ: Mapping[str, str]) -> str:
    """Return the password of a connection, which needs no host. Raises ConfigError where there is none."""
    variable = variable_of(connection)
    text = environ.get(variable, "").strip()
    try:
        result = _of_json(text) if text.startswith("{") else _of_url(text)
    except (ValueError, TypeError, AttributeError):
        result = Credentials("", 0, "", "")
    if not result.password:
        raise ConfigError(
            f"The connection {connection!r} has no password",
            found=f"no environment variable {variable}" if not text else f"a value of {variable} without one",
            fix=f"set {variable} to generic://:PASSWORD@. In a password, write `@`, `:` and `/` as %40, %3A and %2F",
        )
    return result.password


def _of_url(text: str) -> Credentials:
    parts = urlsplit(text)
    if not parts.scheme or "//" not in text:
        raise ValueError
    return Credentials(
        unquote(parts.hostname or ""), parts.port or _PORT, unquote(parts.username or ""), unquote(parts.password or "")
    )


def _of_json(text: str) -> Credentials:
    values = json.loads(text)
    return Credentials(
        str(values.get("host") or ""),
        int(values.get("port") or _PORT),
        str(values.get("login") or ""),
        str(values.get("password") or ""),
    )


def _unusable(variable: str, cause: str) -> ConfigError:
    return ConfigError(
        f"The environment variable {variable} names no server",
        found=cause,
        fix=f"set {variable} to mysql://USER:PASSWORD@HOST:PORT. In a password, write `@`, `:` and `/` as %40, %3A and %2F",
    )
