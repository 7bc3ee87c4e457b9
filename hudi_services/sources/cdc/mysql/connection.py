"""A connection to a server of MySQL or MariaDB."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from hoodie.errors import ConfigError, SourceUnavailableError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.credentials import Credentials, credentials

if TYPE_CHECKING:
    from pymysql.connections import Connection

_TIMEOUT = 20  # seconds until the server has to answer the first time
_SESSION = (
    # Times, text and numbers mean the same under all defaults of servers. Days that no calendar has can be compared.
    "SET SESSION time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES'",
    # Long reads, and long pauses while rows are written, end no session. The comments are for one kind of server each.
    "SET SESSION net_write_timeout = 600, net_read_timeout = 600, wait_timeout = 172800"
    " /*M! , max_statement_time = 0, idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0 */"
    " /*!50708 , max_execution_time = 0 */",
)
_ACCESS_DENIED = (1044, 1045, 1698)
_TOO_MANY = (1040, 1203, 1226)  # limits of the server, of each user, of this user
_ENDED = (
    *(0, 2002, 2003, 2006, 2013, 2055),  # errors of the driver: no connection, refused, gone, lost
    *(1053, 1927, 3169, 4031, 1317),  # the server shuts down, the session or its query was killed, or waited too long
    *(1152, 1158, 1159, 1160, 1161, 1184),  # packets did not get through
)
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds: a server counts a connection for a moment after its end


@contextmanager
def connected(name: str, server: DatabaseServer, environ: Mapping[str, str]) -> Iterator[Connection[Any]]:
    """Yield a connection to the server `name` of the registry, whose session keeps times in UTC, and close it.

    Raises ConfigError for a connection that is not declared, a refused user and a certificate that cannot be trusted,
    SourceUnavailableError where the server does not answer.
    """
    connection = _connect(name, server, environ)
    try:
        for statement in _SESSION:
            rows_of(connection, statement)
        yield connection
    finally:
        if connection.open:
            connection.close()


def rows_of(connection: Connection[Any], statement: str, values: Sequence[object] = ()) -> tuple[tuple[Any, ...], ...]:
    """Return the rows of a query, values as PyMySQL decodes them. `%` is itself in a statement without `values`.

    Raises SourceUnavailableError where the connection ends, and closes it then. Other errors are those of PyMySQL.
    """
    with answered(connection), connection.cursor() as cursor:
        cursor.execute(statement, tuple(values) or None)
        return tuple(cursor.fetchall())


def first_answer(connection: Connection[Any], *statements: str) -> tuple[tuple[Any, ...], ...] | None:
    """Return the rows of the first statement that the server knows and permits. Releases have different words."""
    import pymysql

    for statement in statements:
        try:
            return rows_of(connection, statement)
        except pymysql.err.Error:
            continue
    return None


@contextmanager
def answered(connection: Connection[Any]) -> Iterator[None]:
    """Raise SourceUnavailableError where the connection ends in the block, and close it then.

    Other errors of PyMySQL say something of the statement, and pass.
    """
    import pymysql

    try:
        yield
    except pymysql.err.MySQLError as error:
        code, message = (*error.args, "", "")[:2]
        if code not in _ENDED:
            raise
        with suppress(Exception):  # the server may not hear it
            connection.close()
        raise SourceUnavailableError(
            "The server ended a connection, or does not answer any more",
            found=str(message) or "a connection that is closed",
            fix="run again. It goes on after the last commit",
        ) from error


def is_mariadb(connection: Connection[Any]) -> bool:
    """Return True for MariaDB, False for MySQL."""
    [[version]] = rows_of(connection, "SELECT VERSION()")
    return "mariadb" in str(version).lower()


def _connect(name: str, server: DatabaseServer, environ: Mapping[str, str]) -> Connection[Any]:
    try:
        import pymysql
    except ImportError:
        raise ConfigError(
            "The driver of MySQL is not installed", fix='`pip install "hudi-table-services[mysql]"`'
        ) from None
    login = credentials(server.connection, environ)
    place = f"{login.host}:{login.port}"
    try:
        return _accepted(server, login)
    except pymysql.err.OperationalError as error:
        code, message = (*error.args, "", "")[:2]
        if code in _ACCESS_DENIED:
            raise ConfigError(
                f"The server {name} at {place} refuses the user {login.user!r}",
                found=str(message),
                fix=f"correct the connection {server.connection!r}, or make the user at the server",
            ) from error
        if code in _TOO_MANY:
            raise SourceUnavailableError(
                f"The server {name} at {place} takes no more connections",
                found=str(message),
                fix="run again when others have ended theirs, or let the user have five: "
                "ALTER USER … WITH MAX_USER_CONNECTIONS 5",
            ) from error
        if _is_tls(error):
            raise ConfigError(
                f"There is no trusted TLS connection to the server {name} at {place}",
                found=str(message or error),
                fix="name the file of its authority in `ca`, or write `tls: encrypt` (any certificate) or `tls: off`",
            ) from error
        raise SourceUnavailableError(
            f"The server {name} at {place} does not answer",
            found=str(message or error),
            fix=f"check host and port of the connection {server.connection!r}, and that the server runs",
        ) from error


def _accepted(server: DatabaseServer, login: Credentials) -> Connection[Any]:
    """Return a connection, after a few attempts where there are too many. Raises errors of PyMySQL."""
    import pymysql

    for pause in _PAUSES:
        try:
            return _opened(server, login)
        except pymysql.err.OperationalError as error:
            if error.args[0] not in _TOO_MANY:
                raise
        time.sleep(pause)
    return _opened(server, login)


def _opened(server: DatabaseServer, login: Credentials) -> Connection[Any]:
    import pymysql

    return pymysql.connect(
        host=login.host,
        port=login.port,
        user=login.user,
        password=login.password.encode(),  # PyMySQL takes text for Latin-1
        charset="utf8mb4",
        ssl=_tls(server),
        ssl_disabled=server.tls == "off",
        connect_timeout=_TIMEOUT,
        autocommit=True,
        program_name="hudi-services",
    )


def _tls(server: DatabaseServer) -> ssl.SSLContext | None:
    if server.tls == "off":
        return None
    try:
        context = ssl.create_default_context(cafile=server.ca)
    except OSError as error:
        raise ConfigError(
            f"The authorities of TLS in {server.ca} cannot be read", found=str(error), fix="correct the path `ca`"
        ) from error
    if server.tls == "encrypt":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _is_tls(error: Exception) -> bool:
    return "SSL" in str(error) or isinstance(error.__cause__, ssl.SSLError)
