"""Tasks on other machines have their markers written by a server, and write them themselves when it is silent."""

from __future__ import annotations

import errno
import logging
import os
import pickle
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, StorageError, WriteConflictError
from hoodie.markers import Batching, LocalMarkers, MarkerBatches, MarkerType, RemoteMarkers, read_markers
from hoodie.markers.server import ServerAddress, SilentServerError, ask, embedded, note_on_server
from hoodie.model.names import is_data_file
from hoodie.model.time import Time
from hoodie.storage import LocalStorage, walk_files
from tests.support.engines import OtherProcesses
from tests.support.servers import free_port
from tests.support.tables import SMALL_BLOOM, batch, content, create

TIME = Time.of("20260101000000000")
FOLDER = f".hoodie/.temp/{TIME}"
BATCHED = {**SMALL_BLOOM, "hoodie.write.markers.type": "timeline_server_based"}


def path(number):
    return f"p{number % 7}/{number:08}-0_0-1-2_{TIME}.parquet"


def names(storage):
    return {file.name for file in walk_files(storage, FOLDER) if not file.name.startswith(".")}


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path))


@pytest.fixture
def quick(monkeypatch):
    """No waiting between tries."""
    monkeypatch.setattr("hoodie.markers.server._LONGEST_WAIT", 0.01)


def test_a_marker_is_on_the_storage_when_its_task_goes_on(storage):
    with MarkerBatches(storage, TIME, Batching(1)) as batches, embedded()(batches, "127.0.0.1", 0) as server:
        markers = pickle.loads(pickle.dumps(RemoteMarkers(storage, TIME, server)))

        def note(number):
            markers.create(path(number), MarkerType.CREATE)
            assert path(number) in read_markers(storage, TIME)

        with ThreadPoolExecutor(8) as tasks:
            list(tasks.map(note, range(60)))
    assert read_markers(storage, TIME) == {path(number) for number in range(60)}
    assert names(storage) <= {"MARKERS.type", *(f"MARKERS{number}" for number in range(20))}


@pytest.mark.parametrize("why", ["nobody listens", "wrong secret", "ended"])
def test_a_silent_server_is_told_once_and_done_without(storage, why, quick, caplog):
    """The files that tasks make then are such as Hudi's rollback reads in a folder with `MARKERS.type`."""
    with MarkerBatches(storage, TIME, Batching(1)) as batches, embedded()(batches, "127.0.0.1", 0) as server:
        RemoteMarkers(storage, TIME, server).create(path(1), MarkerType.CREATE)
        away = {
            "nobody listens": ServerAddress("127.0.0.1", int(free_port()), "s"),
            "wrong secret": ServerAddress(server.host, server.port, "wrong"),
            "ended": server,
        }[why]
        if why == "ended":
            batches.close()
        for number in (2, 3):
            RemoteMarkers(storage, TIME, away).create(path(number), MarkerType.MERGE)
    assert read_markers(storage, TIME) == {path(1), path(2), path(3)}
    assert len(names(storage)) == 4, "MARKERS.type, the server's file, and one for each task that had no server"
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == 1
    assert f"127.0.0.1:{away.port}" in told[0]
    assert server.secret not in caplog.text


def test_strangers_are_kept_out(storage):
    with MarkerBatches(storage, TIME, Batching(1)) as batches, embedded()(batches, "127.0.0.1", 0) as server:
        stranger = ServerAddress(server.host, server.port, "")
        for method, place in (
            ("POST", "/v1/markers"),
            ("GET", "/v1/timeline"),
            ("GET", "/v1/health"),
            ("GET", "/docs"),
        ):
            with pytest.raises(SilentServerError, match="401"):
                ask(stranger, method, place, {"table": storage.base_path, "instant": TIME, "marker": "x"})
        assert server.secret not in repr(server)
        with pytest.raises(SilentServerError, match="404"):
            ask(server, "GET", "/docs")
    assert names(storage) == set()


def test_what_stands_against_a_marker_reaches_the_task(storage):
    def check(markers):
        raise WriteConflictError("another was first", found="it", fix="run it again")

    with (
        MarkerBatches(storage, TIME, Batching(1), check) as batches,
        embedded()(batches, "127.0.0.1", 0) as server,
        pytest.raises(WriteConflictError, match="another was first"),
    ):
        RemoteMarkers(storage, TIME, server).create(path(1), MarkerType.CREATE)
    assert read_markers(storage, TIME) == set()


def test_a_port_that_is_taken(storage):
    with MarkerBatches(storage, TIME, Batching(1)) as batches, socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen at 127.0.0.1:{port}"):
            embedded()(batches, "127.0.0.1", port).__enter__()


def test_a_host_that_is_no_address_of_this_machine(storage):
    """As in a container: it listens at all that it has."""
    with MarkerBatches(storage, TIME, Batching(1)) as batches, embedded()(batches, "192.0.2.1", 0) as server:
        assert ask(ServerAddress("127.0.0.1", server.port, server.secret), "GET", "/v1/health")


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_write_in_other_processes_starts_its_server(tmp_path, kind, monkeypatch):
    table = create(tmp_path / "t", engine=OtherProcesses(2), **{"hoodie.table.type": kind})
    seen = set()
    original = RemoteMarkers.create

    def noted(self, data_file, kind):
        original(self, data_file, kind)
        seen.update(file.name for file in walk_files(self.storage, ".hoodie/.temp"))

    monkeypatch.setattr(RemoteMarkers, "create", noted)
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", BATCHED)
    table.write(batch([("a", "p", 2, 2), ("c", "r", 2, 2)]), "upsert", BATCHED)
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1), "c": ("r", 2, 2)}
    assert "MARKERS0" in seen
    assert not any(".marker." in name for name in seen)
    assert list(walk_files(table.storage, ".hoodie/.temp")) == []


def test_a_write_without_the_web_server_says_what_to_install(tmp_path, monkeypatch):
    table = create(tmp_path / "t", engine=OtherProcesses(2))
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    monkeypatch.delitem(
        __import__("sys").modules, "hudi_services.services.timeline_server.server_thread", raising=False
    )
    with pytest.raises(ConfigError, match=r"hudi-table-services\[timeline-server\]"):
        table.write(batch([("a", "p", 1, 1)]), "insert", BATCHED)
    assert table.timeline.commits == ()
    table.write(batch([("a", "p", 1, 1)]), "insert", {**BATCHED, "hoodie.write.markers.type": "direct"})


class Refusing(LocalStorage):
    """A disk that refuses markers with the error `refused`, while one is set."""

    refused = None

    def create(self, path, data):
        self._look(path)
        super().create(path, data)

    def replace(self, path, old, new):
        self._look(path)
        return super().replace(path, old, new)

    def _look(self, path):
        error = type(self).refused
        if error is not None and path.startswith(".hoodie/.temp/") and not path.endswith("MARKERS.type"):
            raise OSError(error, os.strerror(error), path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("served", [True, False])
def test_a_disk_that_refuses_the_markers(tmp_path, number, served, quick, monkeypatch):
    """Neither the server nor, in its place, the task can note the file: no file is written, and the write is taken back."""
    made = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    before = {file.path for file in walk_files(made.storage, "") if is_data_file(file.name)}
    engine = OtherProcesses(2) if served else LocalEngine(2)
    table = HoodieTable(Refusing(made.base_path), engine)
    acknowledged = []
    for kind in (RemoteMarkers, LocalMarkers):
        original = kind.create

        def noted(self, data_file, marker, original=original):
            original(self, data_file, marker)
            acknowledged.append(data_file)

        monkeypatch.setattr(kind, "create", noted)
    monkeypatch.setattr(Refusing, "refused", number)
    with pytest.raises(StorageError, match=os.strerror(number)):
        table.write(batch([("a", "p", 2, 2), ("b", "q", 2, 2)]), "upsert", BATCHED)
    assert acknowledged == []
    assert {file.path for file in walk_files(made.storage, "") if is_data_file(file.name)} == before
    assert (content(made), made.timeline.pending) == ({"a": ("p", 1, 1)}, ())
    assert list(walk_files(made.storage, ".hoodie/.temp")) == []
    monkeypatch.setattr(Refusing, "refused", None)
    table.write(batch([("a", "p", 2, 2), ("b", "q", 2, 2)]), "upsert", BATCHED)
    assert content(made) == {"a": ("p", 2, 2), "b": ("q", 2, 2)}
    assert len(acknowledged) == 2


def test_a_server_that_may_not_write_where_its_tasks_may(storage, quick, caplog):
    refusing = Refusing(storage.base_path)
    with MarkerBatches(refusing, TIME, Batching(1)) as batches, embedded()(batches, "127.0.0.1", 0) as server:
        Refusing.refused = errno.EACCES
        try:
            with pytest.raises(SilentServerError, match=r"503.*Permission denied"):
                note_on_server(server, storage.base_path, TIME, f"{path(1)}.marker.CREATE")
            assert read_markers(storage, TIME) == set()
            RemoteMarkers(storage, TIME, server).create(path(1), MarkerType.CREATE)
        finally:
            Refusing.refused = None
    assert read_markers(storage, TIME) == {path(1)}
    assert "Permission denied" in caplog.text


@pytest.mark.parametrize("secret", ["", "two\nlines", "schlüssel", "snow ☃", " kw77", "a\0b"])
def test_a_secret_that_cannot_travel(tmp_path, secret, monkeypatch):
    """The error comes before anything is written, and does not show it."""
    table = create(tmp_path / "t")
    apart = {"hoodie.embed.timeline.server": "false", "hoodie.filesystem.view.remote.host": "127.0.0.1"}
    monkeypatch.setattr(os, "environ", {**os.environ, "HUDI_TIMELINE_SERVER_SECRET": secret})
    with pytest.raises(ConfigError, match="no secret by which it knows its writers") as told:
        table.write(batch([("a", "p", 1, 1)]), "insert", {**BATCHED, **apart})
    assert not secret or secret not in str(told.value)
    assert (table.timeline.commits, table.timeline.pending) == ((), ())


@pytest.mark.parametrize(
    "said", [b"", b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx", None]
)
def test_a_server_that_is_none(storage, quick, said, monkeypatch):
    """It closes, speaks of something else, breaks off, or (None) never answers: the task notes its file itself."""
    monkeypatch.setattr("hoodie.markers.server._SECONDS", 0.2)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def answer():
            while True:
                try:
                    asker, _ = listener.accept()
                except OSError:
                    return
                kept.append(asker)
                if said is not None:
                    asker.sendall(said)
                    asker.close()

        kept = []
        threading.Thread(target=answer, daemon=True).start()
        address = ServerAddress("127.0.0.1", listener.getsockname()[1], "secret")
        RemoteMarkers(storage, TIME, address).create(path(1), MarkerType.CREATE)
        listener.shutdown(socket.SHUT_RDWR)
    assert read_markers(storage, TIME) == {path(1)}
