"""Ours and Apache Hudi's ZookeeperBasedLockProvider keep each other out of a table, on a real ZooKeeper."""

from __future__ import annotations

import json
import os
import re
import socket
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, LockHeldError, LockLostError, StorageError
from hoodie.services.blockers import Hold, blockers_of
from hoodie.storage import LocalStorage
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import table_lock, verify_held
from hoodie.write.execute import WriteHooks
from hudi_services.cli.program import main
from tests.interop.hive_services import START_FAST
from tests.interop.lock_peer import hudis_lock
from tests.support.locks import locking
from tests.support.matrix import other_server
from tests.support.servers import Server, free_port
from tests.support.stopped import stopped
from tests.support.tables import batch, content, create

pytestmark = pytest.mark.interop

PREFIX = "hoodie.write.lock.zookeeper."


@pytest.fixture(scope="module")
def port(classes):
    """A ZooKeeper of the peer's Spark."""
    folder, port = Path(tempfile.mkdtemp(prefix="zookeeper-")), free_port()
    main = "org.apache.zookeeper.server.ZooKeeperServerMain"
    command = [
        "java",
        "-Xmx128m",
        *START_FAST,
        "-Dzookeeper.admin.enableServer=false",
        "-cp",
        classes,
        main,
        port,
        folder / "data",
    ]
    server = Server("zookeeper", command, port, folder)
    yield port
    server.stop()


@pytest.fixture
def options(port, request):
    name = re.sub(r"\W", "_", request.node.name)
    return {
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
        f"{PREFIX}url": f"127.0.0.1:{port}",
        f"{PREFIX}base_path": "/hudi/locks",
        f"{PREFIX}lock_key": name,
        f"{PREFIX}session_timeout_ms": "6000",
    }


def given(options, wait=0):
    names = {name.removeprefix("hoodie.write.lock.").replace(".", "__"): value for name, value in options.items()}
    return locking(**{**names, "wait_time_ms": wait})


@other_server
def test_who_has_it_is_shown(classes, options, tmp_path, capsys):
    (tmp_path / "tables.yaml").write_text(
        yaml.safe_dump({"tables": [{"name": "trips", "base_path": str(tmp_path / "t"), "hoodie": options}]})
    )
    table = create(tmp_path / "t")

    def shown():
        assert main(["show", "locks", f"--registry={tmp_path / 'tables.yaml'}", "--table=trips", "--json"]) == 0
        return json.loads(capsys.readouterr().out)["locks"]

    assert shown() == []
    with table_lock(table.storage, SystemClock(), "clean", given(options)):
        (row,) = shown()
    assert row["kind"] == "ZookeeperBasedLockProvider"
    assert row["path"] == f"/hudi/locks/{options[f'{PREFIX}lock_key']}"
    assert row["holder"] == f"clean by process {os.getpid()} of {socket.gethostname()}"
    assert 0 <= row["age"] < 60
    assert shown() == []
    with hudis_lock(classes, "zookeeper", options) as ask:
        assert ask("lock 5000") == "true"
        assert shown()[0]["holder"].startswith("application_id")


@other_server
def test_a_path_is_derived_as_hudi_derives_it(classes, options, tmp_path):
    """Hudi's implicit provider: a node by a hash of the table's base path."""
    from hoodie.transaction.locks.zookeeper import implicit_base_path

    implicit = {
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedImplicitBasePathLockProvider",
        f"{PREFIX}url": options[f"{PREFIX}url"],
    }
    storage = LocalStorage(str(tmp_path))
    with hudis_lock(classes, "implicit", {**implicit, "hoodie.base.path": str(tmp_path)}) as ask:
        for place in (
            "s3://lake/trips",
            "s3a://lake/trips",
            "s3a://lake/s3a://x",
            "gs://b/t/",
            "/data/größe",
            "hdfs://n/" + "t" * 99,
        ):
            assert ask(f"node {place}") == implicit_base_path(place)
        assert ask("lock 5000") == "true"
        with (
            pytest.raises(LockHeldError, match=r"node /tmp/[0-9A-F]{16}/lock_key of ZooKeeper, held by application_id"),
            table_lock(storage, SystemClock(), "clean", given(implicit)),
        ):
            pytest.fail("two writers at once")
        assert ask("unlock") == "done"
        with table_lock(storage, SystemClock(), "upsert", given(implicit)):
            assert ask("lock 1000").startswith("error")


@other_server
def test_unlock_takes_it_away(classes, options, tmp_path, capsys):
    (tmp_path / "tables.yaml").write_text(
        yaml.safe_dump({"tables": [{"name": "trips", "base_path": str(tmp_path / "t"), "hoodie": options}]})
    )
    table = create(tmp_path / "t")
    flags = [f"--registry={tmp_path / 'tables.yaml'}", "--table=trips", "--yes"]
    assert main(["unlock", *flags]) == 0
    assert "not locked" in capsys.readouterr().out
    with table_lock(table.storage, SystemClock(), "clean", given(options)):
        assert main(["unlock", *flags]) == 0
        assert "held by: clean by process" in capsys.readouterr().out
        with table_lock(table.storage, SystemClock(), "upsert", given(options)):
            verify_held()
        with pytest.raises(LockLostError, match="its session has ended"):
            verify_held()


def test_each_waits_for_the_other(classes, options, tmp_path):
    storage = LocalStorage(str(tmp_path))
    with hudis_lock(classes, "zookeeper", options) as ask:
        assert ask("lock 5000") == "true"
        with (
            pytest.raises(LockHeldError, match=r"node /hudi/locks/.* of ZooKeeper, held by application_id"),
            table_lock(storage, SystemClock(), "clean", given(options)),
        ):
            pytest.fail("two writers at once")
        with ThreadPoolExecutor(1) as pool:

            def waits():
                with table_lock(storage, SystemClock(), "clean", given(options, 30_000)):
                    verify_held()
                    return time.monotonic()

            waiting = pool.submit(waits)
            time.sleep(1)
            assert not waiting.done()
            assert ask("unlock") == "done"
            waiting.result(20)
        with table_lock(storage, SystemClock(), "upsert", given(options)):
            assert ask("lock 1000").startswith("error")
            with (
                pytest.raises(LockHeldError, match=r"waited 1 s.*held by upsert by process"),
                table_lock(storage, SystemClock(), "clean", given(options, 1000)),
            ):
                pytest.fail("two writers at once")
        assert ask("lock 5000") == "true"
        ask("kill")
    with table_lock(storage, SystemClock(), "clean", given(options, 30_000)):  # when Hudi's session has ended
        pass


@other_server
def test_a_write_whose_session_ended_is_not_completed(port, options, tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "insert", options)

    def lose():
        from kazoo.client import KazooClient

        other = KazooClient(f"127.0.0.1:{port}")
        other.start()
        folder = f"/hudi/locks/{options[f'{PREFIX}lock_key']}"
        (node,) = other.get_children(folder)
        other.delete(f"{folder}/{node}")  # what the server does at the end of a session
        other.stop()
        other.close()
        return {}

    with pytest.raises(LockLostError, match="its session has ended"):
        table.write(batch([("b", "p", 1, 1)]), "upsert", options, hooks=WriteHooks(before_commit=lose))
    assert set(content(table)) == {"a"}
    table.write(batch([("c", "p", 1, 1)]), "upsert", options)
    assert set(content(table)) == {"a", "c"}


@other_server
def test_blockers_name_who_holds_it(options, tmp_path):
    """The holder of the lock does not list itself as a blocker; another process does."""
    table = create(tmp_path / "t")
    told = []

    def asked():
        state = table.state()
        holds = [Hold(instant, "what began later", "it is pending") for instant in state.timeline.pending]
        return blockers_of(holds, state, SystemClock(), ConcurrencyOptions(), given(options))

    def look():
        told.extend(asked())
        with ThreadPoolExecutor(1) as pool:
            told.extend(pool.submit(asked).result())
        return {}

    table.write(batch([("a", "p", 1, 1)]), "upsert", options, hooks=WriteHooks(before_commit=look))
    mine, others = (blocker.owner for blocker in told)
    assert mine is None
    assert others == f"upsert by process {os.getpid()} of {socket.gethostname()} holds the table's lock"


@other_server
def test_a_process_that_is_stopped_loses_its_lock(options, tmp_path):
    code = (
        "import sys; from hoodie.clock import SystemClock; from hoodie.storage import LocalStorage\n"
        "from hoodie.errors import LockLostError; from hoodie.transaction.locks import table_lock, verify_held\n"
        f"from tests.interop.test_zookeeper_lock import given\noptions = {options!r}\n"
        f"with table_lock(LocalStorage({str(tmp_path)!r}), SystemClock(), 'upsert', given(options)):\n"
        "    print('held', flush=True); sys.stdin.readline()\n"
        "    try:\n        verify_held()\n    except LockLostError:\n        print('lost', flush=True)"
    )
    with (
        stopped(code) as go_on,
        table_lock(LocalStorage(str(tmp_path)), SystemClock(), "clean", given(options, 40_000)),
    ):
        assert go_on() == "lost"
        verify_held()


@other_server
def test_bad_options_and_servers_that_do_not_answer_are_told(options, tmp_path):
    table = create(tmp_path / "t")
    rows = batch([("a", "p", 1, 1)])
    for missing in ("url", "base_path", "lock_key"):
        with pytest.raises(ConfigError, match=rf"zookeeper\.{missing} is missing"):
            table.write(rows, "insert", {k: v for k, v in options.items() if k != f"{PREFIX}{missing}"})
    nobody = {**options, f"{PREFIX}url": f"127.0.0.1:{free_port()}", f"{PREFIX}connection_timeout_ms": "1000"}
    with pytest.raises(StorageError, match=r"ZooKeeper, which locks table .* does not answer"):
        table.write(rows, "insert", nobody)
    assert len(table.timeline) == 0
