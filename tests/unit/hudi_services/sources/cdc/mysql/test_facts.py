"""Facts of a real MariaDB server, as requirements."""

from __future__ import annotations

import pytest

from hoodie.clock import SystemClock
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.facts import server_facts
from hudi_services.sources.cdc.mysql.preflight import requirements
from tests.support.mariadb import only_mariadb

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def tables(server):
    server.run(
        "CREATE DATABASE facts",
        "CREATE TABLE facts.orders (id INT PRIMARY KEY)",
        "CREATE TABLE facts.`odd ``name` (a INT NOT NULL, b INT NOT NULL, UNIQUE (a, b))",
        "CREATE TABLE facts.lines (line TEXT)",
        "CREATE TABLE facts.maybe (a INT, UNIQUE (a))",
        "CREATE TABLE facts.old (id INT PRIMARY KEY) ENGINE = MyISAM",
        "CREATE TABLE facts.items (id INT PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES orders (id) ON DELETE SET NULL)",
        "CREATE TABLE facts.held (id INT PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES orders (id))",
        "CREATE VIEW facts.seen AS SELECT * FROM facts.orders",
        "CREATE USER poor IDENTIFIED BY 'poor'",
    )
    return ("facts",)


def checked(server, user, url, databases):
    declared = DatabaseServer(type="mysql", connection="shop", server_id=5401, tls="off")
    with connected("shop", declared, {"AIRFLOW_CONN_SHOP": url}) as connection:
        facts = server_facts(connection, databases, SystemClock())
    assert "PASSWORD" not in str(facts)
    return [requirement for requirement in requirements(declared, user, facts) if requirement.state != "ok"]


@only_mariadb
def test_a_right_server_has_warnings_for_its_odd_tables(server, tables):
    wrong = {each.name: each.found for each in checked(server, "lake", server.url, tables)}
    assert wrong == {
        "tables have a primary key, or a unique index without nulls": "2 of 7 do not: facts.lines, facts.maybe",
        "tables have an engine with transactions": "1 of 7 do not: facts.old",
        "tables have no foreign keys that change rows (CASCADE, SET NULL)": "1 of 7 do not: facts.items",
        "a server that crashes keeps what was read of it (innodb_flush_log_at_trx_commit, sync_binlog)": (
            "innodb_flush_log_at_trx_commit 0, sync_binlog 0"
        ),
    }


@only_mariadb
def test_a_user_without_grants_gets_the_statements(server, tables):
    poor = f"mysql://poor:poor@127.0.0.1:{server.port}"
    assert {each.fix for each in checked(server, "poor", poor, ()) if each.state == "missing"} == {
        "GRANT REPLICATION SLAVE ON *.* TO 'poor'@'%'",
        "GRANT BINLOG MONITOR ON *.* TO 'poor'@'%'",
        "GRANT SELECT ON … TO 'poor'@'%'",
    }
