"""A connection to a real MariaDB server, and the errors where there is none."""

from __future__ import annotations

import pymysql
import pytest

from hoodie.errors import ConfigError, SourceUnavailableError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.connection import connected, rows_of
from tests.support.mariadb import only_mariadb
from tests.support.servers import free_port

pytestmark = pytest.mark.process


def declared(**more):
    return DatabaseServer.model_validate(
        {"type": "mysql", "connection": "shop", "server_id": 5401, "tls": "off", **more}
    )


def test_sessions_keep_times_in_utc_and_take_text_of_any_script(server):
    with connected("shop", declared(), {"AIRFLOW_CONN_SHOP": server.url}) as connection:
        assert rows_of(connection, "SELECT @@session.time_zone, @@session.sql_mode, %s", ["żółć 😀"]) == (
            ("+00:00", "ALLOW_INVALID_DATES", "żółć 😀"),
        )
        assert rows_of(connection, "SELECT '100 %s'") == (("100 %s",),)


@only_mariadb
def test_sessions_outlast_the_limits_of_their_server(server):
    """A server that cuts off slow readers would end a snapshot while its rows are written."""
    limits = {"net_write_timeout": 1, "net_read_timeout": 1, "wait_timeout": 5, "max_statement_time": 1}
    limits |= {"idle_transaction_timeout": 5, "idle_readonly_transaction_timeout": 5}
    server.run(*(f"SET GLOBAL {name} = {seconds}" for name, seconds in limits.items()))
    try:
        with connected("shop", declared(), {"AIRFLOW_CONN_SHOP": server.url}) as connection:
            [found] = rows_of(connection, f"SELECT {', '.join(f'@@session.{name}' for name in limits)}")
    finally:
        server.run(*(f"SET GLOBAL {name} = DEFAULT" for name in limits))
    assert min(found[:3]) >= 600
    assert set(found[3:]) == {0}


@only_mariadb
def test_what_cannot_be_reached_is_an_error_that_helps(server, tmp_path):
    away = f"mysql://lake:secret@127.0.0.1:{free_port()}"
    for url, more, kind, words in (
        (f"mysql://stranger:secret@127.0.0.1:{server.port}", {}, ConfigError, "refuses the user 'stranger'"),
        (away, {}, SourceUnavailableError, "does not answer"),
        ("", {}, ConfigError, "set AIRFLOW_CONN_SHOP to mysql://"),
        (server.url, {"tls": "encrypt"}, ConfigError, "no trusted TLS connection"),
        (server.url, {"tls": "verify", "ca": str(tmp_path / "none.pem")}, ConfigError, "correct the path `ca`"),
    ):
        with (
            pytest.raises(kind, match=words) as raised,
            connected("shop", declared(**more), {"AIRFLOW_CONN_SHOP": url}),
        ):
            pass
        assert "secret" not in str(raised.value)


def test_a_connection_that_ends_is_an_error_that_the_next_run_gets_past(server):
    with connected("shop", declared(), {"AIRFLOW_CONN_SHOP": server.url}) as connection:
        server.run(f"KILL {connection.thread_id()}")
        for _ in range(2):
            with pytest.raises(SourceUnavailableError, match="run again") as raised:
                rows_of(connection, "SELECT 1")
            assert raised.value.retryable
    with connected("shop", declared(), {"AIRFLOW_CONN_SHOP": server.url}) as connection:
        with pytest.raises(pymysql.err.ProgrammingError):  # it says something of the statement
            rows_of(connection, "SELECT FROM")
        assert rows_of(connection, "SELECT 1") == ((1,),)
