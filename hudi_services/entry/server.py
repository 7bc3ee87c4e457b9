"""A database server in the registry, whose tables are loaded into Hudi tables."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from hudi_services.feed.model import Part

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


class DatabaseServer(Part):
    """A server of MySQL or MariaDB.

    `connection` is the id of an Airflow connection with host, port, user and password. Outside Airflow the environment variable
    `AIRFLOW_CONN_<ID>` holds it, as Airflow writes it: `mysql://user:password@host:3306`. `tls` is `verify` (the certificate has
    to be signed by an authority of the machine, or by those in the file `ca`, and to name the host), `encrypt` (any certificate)
    or `off`. `server_id` is the number by which this reader registers at the server as a replica. No other replica may have it.
    `databases` are those that are read. Empty means all that the user sees.
    """

    type: Literal["mysql"]
    connection: Annotated[str, AfterValidator(_connection)]
    tls: Annotated[Literal["verify", "encrypt", "off"], BeforeValidator(_word)] = "verify"
    ca: str | None = None
    server_id: Annotated[int, Field(ge=1, le=2**32 - 1)]
    databases: tuple[str, ...] = ()
