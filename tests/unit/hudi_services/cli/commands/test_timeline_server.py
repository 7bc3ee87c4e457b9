"""The server as a program: who may use it, and that nothing which it has answered is lost when it is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError
from hoodie.markers import MarkerType, RemoteMarkers, read_markers
from hoodie.markers.server import BusyServerError, ServerAddress, note_on_server
from hoodie.model.time import Time
from hoodie.timeline import Action
from hoodie.transaction import instants
from hudi_services.cli.program import main
from tests.support.engines import OtherProcesses
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.process
SECRET = "a long random text"
LATER = Time.of("20990101000000000")
MARKERS = 4000


def path(number):
    return f"part=p{number % 7}/{number:08}-0_0-1-2_{LATER}.parquet"


class Running:
    """`hudi-services timeline-server` on a table."""

    def __init__(self, table):
        command = [
            sys.executable,
            "-m",
            "hudi_services",
            "timeline-server",
            "--target-base-path",
            table.base_path,
            "--port",
            "0",
        ]
        environment = {
            **os.environ,
            "HUDI_TIMELINE_SERVER_SECRET": SECRET,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self.told = self.process.stdout.readline()
        (port,) = re.findall(r"at 127\.0\.0\.1:(\d+);", self.told)
        self.address = ServerAddress("127.0.0.1", int(port), SECRET)

    def end(self, how):
        self.process.send_signal(how)
        return self.process.wait(30)


@pytest.fixture
def table(tmp_path):
    made = create(tmp_path / "t", engine=OtherProcesses(2))
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return made


@pytest.mark.deep("`crash` kills writes at each call of batched markers")
def test_a_server_that_is_killed_in_the_middle_of_a_batch(table, monkeypatch):
    """Every marker that it has answered is on the storage; its tasks go on without it, and so does the rollback."""
    monkeypatch.setattr("hoodie.markers.server._LONGEST_WAIT", 0.01)
    state = table.state()
    instants.start(state, instants.request(state, LATER, Action.COMMIT))
    server, answered, some = Running(table), set(), threading.Event()

    def note(number):
        try:
            note_on_server(server.address, table.base_path, LATER, f"{path(number)}.marker.CREATE")
        except BusyServerError:
            return
        answered.add(path(number))
        if len(answered) > 200:
            some.set()

    with ThreadPoolExecutor(50) as tasks:
        for number in range(MARKERS):
            tasks.submit(note, number)
        assert some.wait(60)
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
    assert 200 < len(answered) < MARKERS
    assert answered <= read_markers(table.storage, LATER)
    RemoteMarkers(table.storage, LATER, server.address).create(path(MARKERS), MarkerType.CREATE)
    again = Running(table)
    note_on_server(again.address, table.base_path, LATER, f"{path(MARKERS + 1)}.marker.CREATE")
    assert again.end(signal.SIGTERM) is not None
    assert {*answered, path(MARKERS), path(MARKERS + 1)} <= read_markers(table.storage, LATER)
    table.storage.create(path(1), b"what a task has made")
    table.write(batch([("b", "p", 1, 1)]), "insert", SMALL_BLOOM)
    assert table.storage.info(path(1)) is None
    assert content(table) == {"a": ("p", 1, 1), "b": ("p", 1, 1)}
    assert table.timeline.pending == ()


def test_a_write_uses_a_server_that_runs_by_itself(table, monkeypatch):
    server = Running(table)
    options = {
        **SMALL_BLOOM,
        "hoodie.write.markers.type": "timeline_server_based",
        "hoodie.embed.timeline.server": "false",
        "hoodie.filesystem.view.remote.host": "127.0.0.1",
        "hoodie.filesystem.view.remote.port": server.address.port,
    }
    try:
        monkeypatch.setenv("HUDI_TIMELINE_SERVER_SECRET", "wrong")
        with pytest.raises(ConfigError, match=r"cannot be used.*401"):
            table.write(batch([("b", "p", 1, 1)]), "insert", options)
        monkeypatch.setenv("HUDI_TIMELINE_SERVER_SECRET", SECRET)
        HoodieTable.open(table.base_path).write(batch([("b", "p", 1, 1)]), "insert", options)
        table.write(batch([("c", "p", 1, 1)]), "insert", options)
        assert content(table) == dict.fromkeys("abc", ("p", 1, 1))
    finally:
        server.end(signal.SIGINT)
    with pytest.raises(ConfigError, match="start it"):
        table.write(batch([("d", "p", 1, 1)]), "insert", options)
    assert content(table) == dict.fromkeys("abc", ("p", 1, 1))
    assert SECRET not in server.told


def test_a_server_without_a_secret_does_not_start(table, monkeypatch, capsys):
    monkeypatch.delenv("HUDI_TIMELINE_SERVER_SECRET", raising=False)
    assert main(["timeline-server", "--target-base-path", table.base_path]) != 0
    assert "HUDI_TIMELINE_SERVER_SECRET is not set" in capsys.readouterr().err
