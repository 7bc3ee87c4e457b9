"""Ours and Apache Hudi's HiveMetastoreBasedLockProvider keep each other out of a table, in a real Hive metastore."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from pymetastore.hive_metastore import ttypes as hive

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, LockHeldError, LockLostError, StorageError
from hoodie.metastore import Connection
from hoodie.storage import LocalStorage
from hoodie.transaction.locks import ensure_held, table_lock, verify_held
from hoodie.write.execute import WriteHooks
from hudi_services.cli.program import main
from tests.interop.hive_services import start_locking_metastore
from tests.interop.lock_peer import hudis_lock
from tests.support.locks import locking
from tests.support.matrix import other_server
from tests.support.servers import free_port
from tests.support.stopped import stopped
from tests.support.tables import batch, content, create

pytestmark = pytest.mark.interop

PREFIX = "hoodie.write.lock.hivemetastore."
TIMEOUT_S = 6


@pytest.fixture(scope="module")
def locking_metastore(classes):
    service = start_locking_metastore(classes, TIMEOUT_S)
    yield service
    service.stop()


@pytest.fixture
def options(locking_metastore, request):
    return {
        "hoodie.write.lock.provider": "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider",
        f"{PREFIX}uris": f"thrift://127.0.0.1:{locking_metastore.port}",
        f"{PREFIX}database": "lake",
        f"{PREFIX}table": re.sub(r"\W", "_", request.node.name),
        "hoodie.write.lock.heartbeat_interval_ms": "1000",
    }


@pytest.fixture
def hudis(options):
    """Options with two more that Hudi's class needs, and that the rest of Hudi gives it."""
    return {**options, "hoodie.write.lock.num_retries": "3", "hoodie.write.lock.wait_time_ms_between_retry": "100"}


def given(options, wait=0):
    names = {name.removeprefix("hoodie.write.lock.").replace(".", "__"): value for name, value in options.items()}
    return locking(**{**names, "wait_time_ms": wait, "wait_time_ms_between_retry": 200})


def asked(options):
    """The locks of the table as another client sees them."""
    connection = Connection.open(options[f"{PREFIX}uris"], "test", "tester")
    request = hive.ShowLocksRequest(dbname="lake", tablename=options[f"{PREFIX}table"])
    try:
        return connection.client.show_locks(request).locks
    finally:
        connection.close()


def unlock_all(options):
    connection = Connection.open(options[f"{PREFIX}uris"], "test", "tester")
    for lock in asked(options):
        connection.client.unlock(hive.UnlockRequest(lockid=lock.lockid))
    connection.close()


def test_each_waits_for_the_other(classes, options, hudis, tmp_path):
    storage = LocalStorage(str(tmp_path))
    with hudis_lock(classes, "hive", hudis) as ask:
        assert ask("lock 5000") == "true"
        (theirs,) = asked(options)
        with (
            pytest.raises(LockHeldError, match=r"table lake\.\w+ in the Hive metastore, held by agent Unknown of user"),
            table_lock(storage, SystemClock(), "clean", given(options)),
        ):
            pytest.fail("two writers at once")
        assert len(asked(options)) == 1, "who gave up is in the queue no more"
        with ThreadPoolExecutor(1) as pool:

            def waits():
                with table_lock(storage, SystemClock(), "clean", given(options, 30_000)):
                    verify_held()
                    return asked(options)

            waiting = pool.submit(waits)
            time.sleep(1.5)
            assert not waiting.done()
            assert ask("unlock") == "done"
            (ours,) = waiting.result(20)
        same = ("dbname", "tablename", "partname", "state", "type", "txnid", "hostname", "user")
        assert {name: getattr(ours, name) for name in same} == {name: getattr(theirs, name) for name in same}
        with table_lock(storage, SystemClock(), "upsert", given(options)):
            assert ask("lock 1000") != "true"
            with (
                pytest.raises(LockHeldError, match=r"waited 1 s.*held by upsert by process \d+ on host"),
                table_lock(storage, SystemClock(), "clean", given(options, 1000)),
            ):
                pytest.fail("two writers at once")
        assert asked(options) == []


@other_server
def test_the_lock_of_a_killed_writer_of_hudi_runs_out(classes, options, hudis, tmp_path):
    with hudis_lock(classes, "hive", hudis) as ask:
        assert ask("lock 5000") == "true"
        time.sleep(TIMEOUT_S + 2)
        assert len(asked(options)) == 1, "it is kept by heartbeats"
        ask("kill")
    with table_lock(LocalStorage(str(tmp_path)), SystemClock(), "clean", given(options, 30_000)):
        time.sleep(TIMEOUT_S + 2)
        ensure_held()
        assert len(asked(options)) == 1, "ours, too"


@other_server
def test_a_process_that_is_stopped_loses_its_lock(options, tmp_path):
    code = (
        "import sys; from hoodie.clock import SystemClock; from hoodie.storage import LocalStorage\n"
        "from hoodie.errors import LockLostError; from hoodie.transaction.locks import table_lock, ensure_held\n"
        f"from tests.interop.test_hive_lock import given\noptions = {options!r}\n"
        f"with table_lock(LocalStorage({str(tmp_path)!r}), SystemClock(), 'upsert', given(options)):\n"
        "    print('held', flush=True); sys.stdin.readline()\n"
        "    try:\n        ensure_held()\n    except LockLostError:\n        print('lost', flush=True)"
    )
    with (
        stopped(code) as go_on,
        table_lock(LocalStorage(str(tmp_path)), SystemClock(), "clean", given(options, 40_000)),
    ):
        assert go_on() == "lost"
        verify_held()


@other_server
def test_a_write_whose_lock_was_given_away_is_not_completed(options, tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "insert", options)

    def lose():
        unlock_all(options)
        return {}

    with pytest.raises(LockLostError, match="the metastore has given it away"):
        table.write(batch([("b", "p", 1, 1)]), "upsert", options, hooks=WriteHooks(before_commit=lose))
    assert set(content(table)) == {"a"}
    table.write(batch([("c", "p", 1, 1)]), "upsert", options)
    assert set(content(table)) == {"a", "c"}


@other_server
def test_who_has_it_is_shown_and_taken_away(classes, options, hudis, tmp_path, capsys):
    (tmp_path / "tables.yaml").write_text(
        yaml.safe_dump({"tables": [{"name": "trips", "base_path": str(tmp_path / "t"), "hoodie": options}]})
    )
    table = create(tmp_path / "t")
    flags = [f"--registry={tmp_path / 'tables.yaml'}", "--table=trips", "--json"]

    def shown():
        assert main(["show", "locks", *flags]) == 0
        return json.loads(capsys.readouterr().out)["locks"]

    assert shown() == []
    with table_lock(table.storage, SystemClock(), "clean", given(options)):
        (row,) = shown()
        assert row["kind"] == "HiveMetastoreBasedLockProvider"
        assert row["path"] == f"lake.{options[f'{PREFIX}table']}"
        assert row["holder"] == f"clean by process {os.getpid()} on host {socket.gethostname()}"
        assert 0 <= row["age"] < 60
    with hudis_lock(classes, "hive", hudis) as ask:
        assert ask("lock 5000") == "true"
        assert shown()[0]["holder"].startswith("agent Unknown of user")
        assert main(["unlock", *flags, "--yes"]) == 0
        assert len(json.loads(capsys.readouterr().out)["removed"]) == 1
        assert shown() == []


class Unheard:
    """A connection that makes the calls of one name, and loses their answers a number of times."""

    def __init__(self, monkeypatch, name, times):
        self.left, real = times, Connection.open

        def opened(*arguments):
            connection = real(*arguments)
            call = getattr(connection.client, name)

            def unheard(request):
                answer = call(request)
                if self.left:
                    self.left -= 1
                    connection.transport.close()
                    raise ConnectionResetError("the answer was lost")
                return answer

            setattr(connection.client, name, unheard)
            return connection

        monkeypatch.setattr(Connection, "open", opened)


@other_server
@pytest.mark.parametrize(("call", "times"), [("lock", 1), ("check_lock", 1), ("heartbeat", 1), ("unlock", 1)])
def test_a_lost_answer_costs_nothing(options, tmp_path, monkeypatch, call, times):
    storage = LocalStorage(str(tmp_path))
    lost = Unheard(monkeypatch, call, times)
    if call == "check_lock":
        with ThreadPoolExecutor(1) as pool, table_lock(storage, SystemClock(), "upsert", given(options)):

            def waits():
                with table_lock(storage, SystemClock(), "clean", given(options, 20_000)):
                    return True

            waiting = pool.submit(waits)
            time.sleep(1)
    else:
        with table_lock(storage, SystemClock(), "upsert", given(options)):
            verify_held()
            assert len(asked(options)) == 1
    if call == "check_lock":
        assert waiting.result(20)
    assert lost.left == 0
    assert asked(options) == []


@other_server
def test_bad_options_and_servers_that_do_not_answer_are_told(options, tmp_path):
    table = create(tmp_path / "t")
    rows = batch([("a", "p", 1, 1)])
    for missing in ("uris", "database", "table"):
        with pytest.raises(ConfigError, match=rf"hivemetastore\.{missing} is missing"):
            table.write(rows, "insert", {k: v for k, v in options.items() if k != f"{PREFIX}{missing}"})
    with pytest.raises(StorageError, match=r"metastore, which locks table .* does not answer at thrift"):
        table.write(rows, "insert", {**options, f"{PREFIX}uris": f"thrift://127.0.0.1:{free_port()}"})
    with pytest.raises(ConfigError, match=r"hivemetastore\.uris names no metastore"):
        table.write(rows, "insert", {**options, f"{PREFIX}uris": "127.0.0.1:9083"})
    with pytest.raises(ConfigError, match=r"heartbeat_interval_ms is too long.*\n?.*6 s \(hive\.txn\.timeout\)"):
        table.write(rows, "insert", {**options, "hoodie.write.lock.heartbeat_interval_ms": "3001"})
    assert len(table.timeline) == 0
    assert asked(options) == []


@other_server
def test_a_name_that_the_metastore_cannot_keep_is_a_mistake_of_the_options(options, tmp_path):
    """Hive 2 keeps 128 characters of a table's name, Hive 4 256."""
    table = create(tmp_path / "t")
    with pytest.raises(ConfigError, match=r"refuses the name .*\n?.*hivemetastore\.table is 'xxx"):
        table.write(batch([("a", "p", 1, 1)]), "insert", {**options, f"{PREFIX}table": "x" * 200})
    assert len(table.timeline) == 0
