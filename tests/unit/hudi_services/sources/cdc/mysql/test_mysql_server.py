"""MySQL has JSON as bytes, settings of the log and GTIDs of its own, and says less of its snapshots than MariaDB."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError, HoodieError, SourceError
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from tests.support.binlog import log_end, logged
from tests.support.matrix import other_server
from tests.support.mysql_server import MySQL, only_mysql
from tests.support.waiting import until
from tests.unit.hudi_services.sources.cdc.mysql.binlog.test_json_text import drawn
from tests.unit.hudi_services.sources.cdc.mysql.test_snapshot import snapped
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load, server_rows

pytestmark = [pytest.mark.process, other_server]


def both(server, declared, inserts, settings=""):
    server.run("DROP DATABASE IF EXISTS only", "CREATE DATABASE only", f"CREATE TABLE only.t ({declared})")
    start = log_end(server)
    server.run(*([settings] if settings else []), "USE only", *inserts)
    parts = logged(server, start)
    with snapped(server, "only", "t") as found:
        snapshot = found.rows.read_all()
    after = pa.concat_tables([part.changes.select(["after"]) for part in parts]).combine_chunks()["after"].chunk(0)
    return snapshot, pa.Table.from_struct_array(after)


@only_mysql
def test_documents_by_snapshot_are_those_by_binlog(server):
    draw = random.Random(5)
    documents = [drawn(draw) for _ in range(600)]
    documents += [draw.uniform(-1, 1) * 10.0 ** draw.randrange(-30, 30) for _ in range(600)]
    documents += [float(10**n) for n in range(40)] + [10.0**-n for n in range(40)] + [0.0, -0.0, 5e-324, 1.7e308]
    values = [
        json.dumps(document, ensure_ascii=False).replace("\\", "\\\\").replace("'", "''") for document in documents
    ]
    inserts = [f"INSERT INTO t (doc) VALUES ('{value}')" for value in values if len(value) < 1_000_000]
    inserts += [
        "INSERT INTO t (doc) VALUES (JSON_OBJECT('d', CAST('2024-02-29' AS DATE), 't', CAST('-838:59:59' AS TIME),"
        " 'm', CAST('2024-02-29 01:02:03.000004' AS DATETIME(6)), 'n', 1.10, 'b', x'cafe00', 'y', CAST(2024 AS YEAR)))",
        "INSERT INTO t (doc) VALUES (JSON_ARRAY(CAST(1 AS DECIMAL(65,30)), -0.5, TRUE, 18446744073709551615, b'101'))",
        "INSERT INTO t (doc) VALUES (JSON_ARRAY(ST_GeomFromText('POINT(1 2)'), TIMESTAMP('2024-01-01 00:00:00')))",
        "INSERT INTO t (doc) VALUES (JSON_ARRAY(REPEAT(x'00ff', 100)))",
    ]
    snapshot, binlog = both(server, "id INT PRIMARY KEY AUTO_INCREMENT, doc JSON", inserts)
    one, other = snapshot["doc"].to_pylist(), binlog["doc"].to_pylist()
    assert len(one) == len(inserts)
    wrong = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    assert wrong == []


@only_mysql
def test_a_transaction_that_waits_for_its_replica_is_not_lost(server, tmp_path):
    """It is in the log for seconds, and no client sees its row yet: a snapshot then would be followed by the log after it."""
    target = str(tmp_path / "lake")
    server.run(
        "CREATE DATABASE waits",
        "CREATE TABLE waits.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO waits.t VALUES (1, 1)",
        "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'",
        "SET GLOBAL rpl_semi_sync_source_timeout = 3000, GLOBAL rpl_semi_sync_source_enabled = 1",
    )
    try:
        before = log_end(server)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(server.run, "INSERT INTO waits.t VALUES (2, 2)")
            until(lambda: log_end(server) != before)
            assert server_rows(server, "waits") == [(1, 1)]
            load(server, "waits", target).run()
            assert waiting.done()
    finally:
        server.run("SET GLOBAL rpl_semi_sync_source_enabled = 0", "UNINSTALL PLUGIN rpl_semi_sync_source")
    assert lake_rows(target) == server_rows(server, "waits") == [(1, 1), (2, 2)]
    assert load(server, "waits", target).run().changes == 0


def test_a_server_without_gtids_is_read_from_the_begin_of_its_last_file(tmp_path):
    server, target = MySQL({"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}), str(tmp_path / "lake")
    try:
        server.run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 1)")
        server.run("INSERT INTO d.t VALUES (2, 2)", "DELETE FROM d.t WHERE id = 1", "UPDATE d.t SET v = 3")
        for _ in range(3):
            load(server, "d", target).run()
            assert lake_rows(target) == server_rows(server, "d")
            server.run("INSERT INTO d.t SELECT MAX(id) + 1, 7 FROM d.t", "UPDATE d.t SET v = v + 1 WHERE id = 2")
        with pytest.raises(ConfigError, match=r"cannot be verified.*gtid_mode=ON"):
            EqualityCheck(load(server, "d", target)).verify()
    finally:
        server.stop()


@pytest.fixture
def own_server():
    """A server whose set of transactions may get tags."""
    server = MySQL()
    yield server
    server.stop()


def test_transactions_with_tags_and_compressed_ones_are_read(own_server, tmp_path):
    target = str(tmp_path / "lake")
    own_server.run(
        "CREATE DATABASE tagged", "CREATE TABLE tagged.t (id INT PRIMARY KEY, v JSON, w VARCHAR(9) DEFAULT 'x')"
    )
    load(own_server, "tagged", target).run()
    own_server.run(
        "USE tagged",
        "SET gtid_next = 'AUTOMATIC:lake'",
        "INSERT INTO t (id, v) VALUES (1, '[1]'), (2, '{}')",
        "SET gtid_next = 'AUTOMATIC', binlog_transaction_compression = ON",
        "BEGIN",
        "UPDATE t SET v = JSON_ARRAY(id, 1.5) WHERE id = 2",
        "INSERT INTO t (id) VALUES (3)",
        "COMMIT",
    )
    assert load(own_server, "tagged", target).run().changes == 4
    assert lake_rows(target) == server_rows(own_server, "tagged")


@only_mysql
def test_types_that_only_mysql_has_are_refused_by_name(server, tmp_path):
    server.run("CREATE DATABASE typed", "CREATE TABLE typed.t (id INT PRIMARY KEY, v VECTOR(3))")
    with pytest.raises(HoodieError, match="vector"):
        load(server, "typed", str(tmp_path / "lake")).run()


@only_mysql
def test_hidden_keys_and_partial_documents(server, tmp_path):
    """A table without a key gets a hidden one. Changes inside documents are refused, since the log has no whole row of them."""
    server.run(
        "CREATE DATABASE hidden",
        "SET SESSION sql_generate_invisible_primary_key = ON",
        "USE hidden",
        "CREATE TABLE t (v JSON)",
    )
    target = str(tmp_path / "lake")
    server.run("INSERT INTO hidden.t VALUES ('[1, 2, 3]'), ('{}')")
    load(server, "hidden", target).run()
    server.run("UPDATE hidden.t SET v = '[]' WHERE my_row_id = 2", "DELETE FROM hidden.t WHERE my_row_id = 1")
    assert load(server, "hidden", target).run().changes == 2
    assert lake_rows(target) == server_rows(server, "hidden", columns="my_row_id, v")
    server.run(
        "INSERT INTO hidden.t VALUES (JSON_ARRAY(REPEAT('x', 900), 1))",
        "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
        "UPDATE hidden.t SET v = JSON_SET(v, '$[1]', 2)",
    )
    with pytest.raises(SourceError, match="empty binlog_row_value_options"):
        load(server, "hidden", target).run()
