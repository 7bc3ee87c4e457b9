"""Until when a server keeps its log from a position on."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from hoodie.clock import SystemClock
from hoodie.storage import open_storage
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.log_retention import log_kept
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.progress_report import ProgressReport
from hudi_services.sources.cdc.sync_progress import ProgressStore
from tests.support.binlog import DECLARED
from tests.unit.hudi_services.sources.cdc.mysql.test_server_sync import Shop

pytestmark = pytest.mark.process
DAY = 86_400


@pytest.fixture
def kept(server):
    """A function that asks a server which keeps a file for a day after its last event."""
    environ = {"AIRFLOW_CONN_SHOP": server.url}
    server.run(f"SET GLOBAL binlog_expire_logs_seconds = {DAY}")
    positions = LogPositions("shop", DECLARED, environ)
    with connected("shop", DECLARED, environ) as connection:
        yield lambda *needed: log_kept(connection, needed or [end_of_log(connection)], positions.created)
    server.run("SET GLOBAL binlog_expire_logs_seconds = 0")


def test_a_file_is_kept_for_a_time_after_its_last_event(server, kept):
    found = kept()
    assert found.retention == DAY
    assert datetime.fromisoformat(found.until).timestamp() == pytest.approx(time.time() + DAY, abs=5)
    old = LogPosition(*found.position.split(":")[:1], 4)
    server.run("FLUSH BINARY LOGS")
    time.sleep(1.1)  # the server notes seconds
    server.run("FLUSH BINARY LOGS")
    first, last = datetime.fromisoformat(kept(old).until), datetime.fromisoformat(kept().until)
    assert 1 <= (last - first).total_seconds() <= 60
    gone = kept(LogPosition("gone.000001", 4), old)
    assert (gone.without, gone.position, gone.until) == (True, "gone.000001:4", None)


def test_a_log_that_is_kept_for_ever_has_no_end(server, kept):
    server.run("SET GLOBAL binlog_expire_logs_seconds = 0")
    found = kept()
    assert (found.retention, found.until, found.without) == (0, None, False)


def test_a_run_notes_its_snapshots_and_the_log_that_a_parked_table_needs(server, kept, tmp_path):
    database = "kept_of_a_run"
    server.run(f"CREATE DATABASE {database}")
    shop = Shop(server, database, tmp_path)
    shop.run(*(f"CREATE TABLE {name} (id INT PRIMARY KEY)" for name in "ab"), "INSERT INTO a VALUES (1), (2)")
    store = ProgressStore(open_storage(str(tmp_path / "state")), "shop")

    def sync():
        report = ProgressReport(store, SystemClock())
        targets = [shop.target(name) for name in "ab"]
        ServerSync("shop", DECLARED, shop.environ, targets, shop.cuts, SystemClock(), report).run()
        return store.latest()

    first = sync()
    assert (first.loaded, first.to_load, first.rows_read, first.loading) == (2, 2, 2, {})
    assert first.kept.position == shop.cuts.latest().position
    shop.run("TRUNCATE a", "INSERT INTO b VALUES (1)")
    second = sync()
    behind = shop.cuts.latest().behind[f"{database}.a"]
    assert (second.to_load, second.kept.position) == (0, behind.position)
    assert second.ended
