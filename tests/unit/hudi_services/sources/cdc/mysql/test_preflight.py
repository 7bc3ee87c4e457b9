"""Requirements of a server of MySQL or MariaDB: facts in, requirements out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.facts import ServerFacts, SourceTable
from hudi_services.sources.cdc.mysql.preflight import requirements

SERVER = DatabaseServer(type="mysql", connection="shop", server_id=5401)
ORDERS = SourceTable(
    "shop", "orders", "InnoDB", 1_000, 1 << 20, keyed=True, readable=True, cascades=False, versioned=False
)
MARIADB = ServerFacts(
    {
        "version": "10.11.19-MariaDB",
        "log_bin": "ON",
        "binlog_format": "ROW",
        "binlog_row_image": "FULL",
        "binlog_row_metadata": "FULL",
        "log_bin_compress": "ON",
        "log_slave_updates": "OFF",
        "binlog_expire_logs_seconds": "0",
        "gtid_strict_mode": "ON",
        "max_allowed_packet": "16777216",
        "server_id": "1",
    },
    ("GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO `lake`@`%`", "GRANT SELECT ON `shop`.* TO `lake`@`%`"),
    (ORDERS,),
    clock_offset=0.0,
    replicas=(),
    is_replica=False,
    unlogged=(),
    logged=(),
)
MYSQL = replace(
    MARIADB,
    variables={
        "version": "8.4.3",
        "log_bin": "ON",
        "binlog_format": "ROW",
        "binlog_row_image": "FULL",
        "binlog_row_metadata": "FULL",
        "binlog_row_value_options": "",
        "binlog_expire_logs_seconds": "2592000",
        "gtid_mode": "ON",
        "max_allowed_packet": "67108864",
        "server_id": "1",
    },
    grants=("GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO `lake`@`%`",),
)


def wrong(facts: ServerFacts, server: DatabaseServer = SERVER) -> list[tuple[str, str, str]]:
    """State, found and fix of each requirement that is not met."""
    checked = requirements(server, "lake", facts)
    return [(each.state, each.found, each.fix) for each in checked if each.state != "ok"]


@pytest.mark.parametrize("facts", [MARIADB, MYSQL], ids=["MariaDB", "MySQL"])
def test_a_server_that_has_all_is_right(facts):
    assert wrong(facts) == []


def test_each_setting_that_would_lose_rows_is_named_with_its_statement():
    for facts, variable, value, state, fix in (
        (MARIADB, "log_bin", "OFF", "missing", "log_bin=mysql-bin"),
        (MARIADB, "binlog_format", "MIXED", "missing", "SET GLOBAL binlog_format = 'ROW'"),
        (MARIADB, "binlog_row_image", "MINIMAL", "missing", "SET GLOBAL binlog_row_image = 'FULL'"),
        (MARIADB, "binlog_row_image", "FULL_NODUP", "missing", "SET GLOBAL binlog_row_image = 'FULL'"),
        (MARIADB, "binlog_row_metadata", "NO_LOG", "missing", "SET GLOBAL binlog_row_metadata = 'FULL'"),
        (MARIADB, "binlog_expire_logs_seconds", "3600", "warning", "SET GLOBAL binlog_expire_logs_seconds = 86400"),
        (MARIADB, "gtid_strict_mode", "OFF", "warning", "SET GLOBAL gtid_strict_mode = ON"),
        (MARIADB, "server_id", "5401", "missing", "choose another `server_id`"),
        (MARIADB, "max_allowed_packet", "1048576", "warning", "SET GLOBAL max_allowed_packet = 16777216"),
        (MYSQL, "binlog_row_value_options", "PARTIAL_JSON", "missing", "SET GLOBAL binlog_row_value_options = ''"),
        (MYSQL, "gtid_mode", "OFF_PERMISSIVE", "warning", "SET GLOBAL gtid_mode = ON"),
    ):
        [(found_state, found, found_fix)] = wrong(replace(facts, variables={**facts.variables, variable: value}))
        assert (found_state, fix in found_fix) == (state, True), (variable, found_fix)
        assert value in found or variable.endswith(("seconds", "packet")), (variable, found)


def test_a_variable_that_the_server_does_not_know_is_not_met():
    """Row metadata came with MariaDB 10.5."""
    variables = {name: value for name, value in MARIADB.variables.items() if name != "binlog_row_metadata"}
    [(state, found, _)] = wrong(replace(MARIADB, variables=variables))
    assert (state, found) == ("missing", "empty")


def test_logs_that_go_before_a_snapshot_ends_stop_the_start():
    facts = replace(MARIADB, tables=(replace(ORDERS, rows=10**10),))
    facts = replace(facts, variables={**facts.variables, "binlog_expire_logs_seconds": "3600"})
    [(state, found, fix)] = wrong(facts)
    assert state == "missing"
    assert found == "1 h 0 min. A snapshot of 1 table takes about 18 h 31 min"
    assert fix == "SET GLOBAL binlog_expire_logs_seconds = 266666"


def test_days_of_older_releases_count():
    variables = {**MARIADB.variables, "binlog_expire_logs_seconds": "0", "expire_logs_days": "0.5"}
    [(state, found, _)] = wrong(replace(MARIADB, variables=variables))
    assert (state, found.split(".")[0]) == ("warning", "12 h 0 min")


def test_databases_that_the_log_leaves_out_are_missing():
    for facts in (replace(MARIADB, unlogged=("shop",)), replace(MARIADB, logged=("crm",))):
        [(state, found, _)] = wrong(facts)
        assert (state, found) == ("missing", "none of shop")
    assert wrong(replace(MARIADB, logged=("shop",), unlogged=("crm",))) == []


def test_a_replica_logs_what_it_gets():
    [(state, found, fix)] = wrong(replace(MARIADB, is_replica=True))
    assert (state, found, "log_slave_updates=ON" in fix) == ("missing", "OFF", True)


def test_grants_are_named_one_by_one_and_too_many_too():
    assert [fix for _, _, fix in wrong(replace(MARIADB, grants=("GRANT USAGE ON *.* TO `lake`@`%`",)))] == [
        "GRANT REPLICATION SLAVE ON *.* TO 'lake'@'%'",
        "GRANT BINLOG MONITOR ON *.* TO 'lake'@'%'",
    ]
    of_a_database = "GRANT REPLICATION SLAVE, BINLOG MONITOR ON `shop`.* TO `lake`@`%`"
    assert len(wrong(replace(MARIADB, grants=(of_a_database,)))) == 2
    [(state, found, _)] = wrong(replace(MARIADB, grants=("GRANT ALL PRIVILEGES ON *.* TO `lake`@`%`",)))
    assert (state, found) == ("warning", "all privileges")


def test_a_replica_with_the_same_number_is_found():
    [(state, _, fix)] = wrong(replace(MARIADB, replicas=(7, 5401)))
    assert (state, fix) == ("missing", "choose another `server_id` than 1, 7, 5401")


def test_tables_that_cannot_be_followed_are_named():
    tables = (
        ORDERS,
        replace(ORDERS, name="log", keyed=False),
        replace(ORDERS, name="old", engine="MyISAM"),
        replace(ORDERS, name="items", cascades=True),
        replace(ORDERS, name="secret", readable=False),
        replace(ORDERS, name="past", versioned=True),
    )
    assert [(state, found) for state, found, _ in wrong(replace(MARIADB, tables=tables))] == [
        ("missing", "1 of 6 do not: shop.secret"),
        ("warning", "1 of 6 do not: shop.log"),
        ("warning", "1 of 6 do not: shop.old"),
        ("warning", "1 of 6 do not: shop.past"),
        ("warning", "1 of 6 do not: shop.items"),
    ]


def test_databases_that_the_user_does_not_see_are_missing():
    server = SERVER.model_copy(update={"databases": ("shop", "crm")})
    [(state, found, fix)] = wrong(MARIADB, server)
    assert (state, found) == ("missing", "1 table, no table in crm")
    assert fix == "GRANT SELECT ON crm.* TO 'lake'@'%'"
    [(state, found, _)] = wrong(replace(MARIADB, tables=()))
    assert (state, found) == ("missing", "0 tables")


def test_a_server_that_may_lose_what_was_read_is_a_warning():
    facts = replace(MARIADB, variables={**MARIADB.variables, "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "1"})
    [(state, found, fix)] = wrong(facts)
    assert (state, found) == ("warning", "sync_binlog 0")
    assert fix.startswith("SET GLOBAL sync_binlog = 1. ")
