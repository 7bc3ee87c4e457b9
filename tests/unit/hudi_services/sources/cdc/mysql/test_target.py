"""Hudi tables that a load may write: each row of the server has a record key of its own, and its last state wins."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.cdc.mysql.target import UniqueKey, check_key_values, key_of_target, unique_keys
from tests.support.binlog import connect
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load

ID, PAIR = UniqueKey("PRIMARY", ("id",)), UniqueKey("u", ("a", "b"))


def properties(key, **others):
    raw = {"hoodie.table.name": "t", "hoodie.table.version": "9", "hoodie.table.recordkey.fields": key}
    return TableProperties({**raw, **others})


def test_the_record_key_has_to_hold_a_key_of_the_server():
    for fields, keys, expected in (("id", (ID, PAIR), ID), ("b,a,c", (ID, PAIR), PAIR), ("c,id", (PAIR, ID), ID)):
        assert key_of_target(properties(fields), keys, named=False) == expected
    for fields, keys in (("a", (ID, PAIR)), ("c", ())):
        assert key_of_target(properties(fields), keys, named=True) is None
        with pytest.raises(ConfigError, match="may share a record key"):
            key_of_target(properties(fields), keys, named=False)


def test_a_table_that_keeps_another_row_than_the_last_is_refused():
    for raw, words in (
        (
            {"hoodie.table.ordering.fields": "v", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING"},
            "the highest v wins",
        ),
        ({"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}, "a payload class that merges rows"),
    ):
        with pytest.raises(ConfigError, match=words):
            key_of_target(properties("id", **raw), (ID,), named=False)


def test_a_null_in_a_key_is_refused_where_there_is_a_row():
    rows = pa.array([{"id": 1}, None, {"id": None}], pa.struct([("id", pa.int32())]))
    check_key_values(rows[:2], ID)
    check_key_values(rows, None)
    for changes in (rows, pa.chunked_array([rows[:1], rows[1:]])):
        with pytest.raises(SourceError, match=r"'id' has dates that no calendar has.* 1 of 2 rows"):
            check_key_values(changes, ID)


@pytest.mark.process
def test_keys_of_a_real_server(server):
    server.run(
        "CREATE OR REPLACE DATABASE keys_of",
        "CREATE TABLE keys_of.t (a INT NOT NULL, b INT, c INT NOT NULL, d INT NOT NULL,"
        " UNIQUE z (d, c), UNIQUE y (b), UNIQUE x (a, b), PRIMARY KEY (c, a), KEY w (d))",
    )
    with connect(server) as connection:
        assert unique_keys(connection, "keys_of", "t") == (
            UniqueKey("PRIMARY", ("c", "a")),
            UniqueKey("z", ("d", "c")),
        )


@pytest.mark.process
def test_a_load_stops_where_rows_would_share_a_key(server, tmp_path):
    server.run(
        "CREATE OR REPLACE DATABASE shared",
        "CREATE TABLE shared.u (id INT NOT NULL, v INT, UNIQUE KEY k (id))",
        "CREATE TABLE shared.z (id INT, d DATE, v INT, PRIMARY KEY (id, d))",
        "CREATE TABLE shared.o (id INT PRIMARY KEY, v INT)",
        "INSERT INTO shared.u VALUES (1, 1)",
    )
    target, zeros = str(tmp_path / "u"), str(tmp_path / "z")
    load(server, "shared", target, "u").run()
    load(server, "shared", zeros, "z").run()
    server.run(
        "SET sql_mode = ''",
        "ALTER TABLE shared.u DROP INDEX k",
        "INSERT INTO shared.u VALUES (1, 2)",
        "INSERT INTO shared.z VALUES (1, '0000-00-00', 1), (1, '2020-02-00', 1)",
    )
    with pytest.raises(ConfigError, match=r"may share a record key.* no unique key at the server"):
        load(server, "shared", target, "u").run(start_fresh=True)
    server.run("DELETE FROM shared.u WHERE v = 1", "ALTER TABLE shared.u ADD UNIQUE KEY k (id)")
    with pytest.raises(SourceError, match=r"DROP INDEX k.*start-fresh"):
        load(server, "shared", target, "u").run()
    load(server, "shared", target, "u").run(start_fresh=True)
    assert lake_rows(target) == [(1, 2)]
    for fresh in (False, True):
        with pytest.raises(SourceError, match="'d' has dates that no calendar has"):
            load(server, "shared", zeros, "z").run(start_fresh=fresh)
    with pytest.raises(ConfigError, match="the highest v wins"):
        load(server, "shared", str(tmp_path / "o"), "o", {"hoodie.table.ordering.fields": "v"}).run()
