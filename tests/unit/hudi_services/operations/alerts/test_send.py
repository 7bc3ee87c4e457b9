"""Due alerts go to real HTTP servers: once, in bounded time, nowhere else, and without a word of a secret."""

from __future__ import annotations

import logging
import socket
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from hoodie.errors import StoreError
from hudi_services.entry.alerts import Alerts, Hook
from hudi_services.operations.alerts.rounds import AlertSender
from hudi_services.operations.alerts.send import send_all
from hudi_services.operations.alerts.store import AlertStore
from hudi_services.operations.watch.model import Cursor, Summary
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry
from tests.support.clock import FakeClock
from tests.support.hooks import happenings, serving

SECRET = "T0PSECRET"
NAME = "<!channel> *orders*\n& sons"


@pytest.fixture
def server():
    with serving() as made:
        yield made


def hook(url, **values):
    return Hook.model_validate({"name": "ops", "url": url} | values)


def sent(url, environ=None, seconds=5.0, **values):
    (answer,) = send_all([(hook(url, **values), b"{}")], environ or {}, seconds)
    return answer


def test_it_is_sent_with_what_is_secret(server):
    environ = {"PLACE": server.address, "PATH_OF": SECRET, "KEY": "k"}
    assert sent("${PLACE}/${PATH_OF}", environ, token="KEY") is None
    (headers,) = server.headers
    assert (headers["Authorization"], headers["Content-Type"]) == ("Bearer k", "application/json")
    assert server.got == [{}]


def test_a_busy_hook_is_asked_again(server):
    server.statuses = [503, 429, 204]
    assert sent(server.address) is None
    assert len(server.got) == 3


@pytest.mark.parametrize(("status", "asked"), [(301, 1), (307, 1), (308, 1), (400, 1), (404, 1), (500, 1), (503, 3)])
def test_what_is_not_taken_is_said_and_nobody_else_is_asked(server, status, asked):
    server.statuses = [status]
    assert str(status) in sent(server.address)
    assert len(server.got) == asked


def test_a_slow_hook_holds_nobody_up(server):
    server.slow = 60.0
    began = time.monotonic()
    with serving() as other:
        slow, quick = send_all([(hook(server.address), b"{}"), (hook(other.address), b"{}")], {}, 2.0)
        assert (slow, quick) == ("no answer within 2 s", None)
        assert len(other.got) == 1
    assert time.monotonic() - began < 30


def test_one_that_drips_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        done = threading.Event()

        def drip():
            connection, _ = listening.accept()
            with connection:
                while not done.wait(0.05):
                    try:
                        connection.sendall(b"H")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            assert sent(f"http://127.0.0.1:{listening.getsockname()[1]}", seconds=0.4) == "no answer within 0.4 s"
        finally:
            done.set()
            thread.join()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("${ADDRESS}", "https://"),
        ("${NOWHERE}", "NOWHERE is not set"),
        (f"http://127.0.0.1:9/{SECRET}", "no connection"),
        (f"http://no-such-host.invalid/{SECRET}", "no connection"),
        (f"https://127.0.0.1:9/{SECRET}", "no connection"),
    ],
)
def test_no_secret_is_in_what_is_told(url, words, caplog, server):
    caplog.set_level(logging.DEBUG)
    environ = {"ADDRESS": f"file:///{SECRET}", "BAD": f"{SECRET}\n"}
    answer = sent(url, environ)
    assert words in answer
    assert sent(server.address, environ, token="BAD") == "LocalProtocolError"
    assert sent(f"{server.address}/{SECRET}") is None
    assert SECRET not in answer + caplog.text


@dataclass
class Watched:
    """A store with a table that is late, and its teller."""

    store: SnapshotStore
    clock: FakeClock
    teller: AlertSender
    registry: Registry

    def late(self, *, late=True):
        now = self.clock.now()
        commit = now - timedelta(hours=2) if late else now
        self.store.save(Cursor("0"), Summary(NAME, "/t", "ok", now, last_commit=commit))

    def tell(self):
        return self.teller.tell(self.registry)


@pytest.fixture
def watched(tmp_path, server):
    hooks = [{"name": "ops", "url": server.address}]
    alerts = Alerts.model_validate({"hooks": hooks, "late": "1h", "repeat": "6h"})
    store, clock = SnapshotStore.open(str(tmp_path / "s.db"), make=True), FakeClock()
    made = Watched(store, clock, AlertSender(store, clock, {}), Registry("tables.yaml", alerts=alerts))
    made.late()
    return made


def test_a_trouble_is_told_once_again_and_ended(watched, server):
    assert [watched.tell(), watched.tell()] == [1, 0]
    watched.clock.sleep(6 * 3600)
    assert [watched.tell(), watched.tell()] == [1, 0]
    watched.late(late=False)
    assert [watched.tell(), watched.tell()] == [1, 0]
    assert happenings(server) == ["began", "stands", "ended"]
    (message,) = server.got[0]["messages"]
    assert (message["table"], message["kind"]) == (NAME, "late")
    assert "\n" not in server.got[0]["text"]


def test_what_began_and_ended_while_the_hook_was_away_is_told(watched, server, caplog):
    server.statuses = [500]
    assert watched.tell() == 0
    assert "hook ops has not accepted the message" in caplog.text
    watched.late(late=False)
    assert watched.tell() == 0
    server.statuses = [200]
    server.got.clear()
    assert [watched.tell(), watched.tell()] == [1, 0]
    assert happenings(server) == ["over"]


def test_one_that_is_killed_after_it_sent_tells_once_more(watched, server, monkeypatch):
    def killed(*_):
        raise StoreError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(AlertStore, "delivered", killed)
        with pytest.raises(StoreError):
            watched.tell()
    assert [watched.tell(), watched.tell()] == [1, 0]
    assert happenings(server) == ["began", "began"]
    assert server.got[0]["id"] == server.got[1]["id"], "who is told may see that it is the same"


def test_another_watcher_that_tells_is_left_to_it(watched, server):
    assert AlertStore.open(watched.store).claim("other", watched.clock.now(), timedelta(minutes=1))
    assert watched.tell() == 0
    watched.clock.sleep(60)
    assert watched.tell() == 1


def test_the_form_of_chats_has_no_markup_of_a_table(watched, server):
    form = {"name": "chat", "url": server.address, "form": "text"}
    alerts = Alerts.model_validate({"hooks": [form], "late": "1h"})
    assert watched.teller.tell(Registry("tables.yaml", alerts=alerts)) == 1
    (body,) = server.got
    assert list(body) == ["text"]
    assert body["text"].startswith("began: &lt;!channel&gt; *orders* &amp; sons: no commit for longer than 1 h")


def test_a_thousand_troubles_are_one_message_that_counts_them(watched, server):
    for number in range(100):
        now = watched.clock.now()
        late = Summary(f"t{number}", "/t", "ok", now, last_commit=now - timedelta(days=1))
        watched.store.save(Cursor("0"), late)
    assert watched.tell() == 1
    (body,) = server.got
    assert len(body["messages"]) == 101
    assert body["text"].endswith("and 71 more: hudi-services alerts")
    assert datetime.fromisoformat(body["at"])


def test_a_registry_without_alerts_tells_nobody(watched, server):
    assert watched.teller.tell(Registry("tables.yaml")) == 0
    assert server.got == []
