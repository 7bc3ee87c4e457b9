"""The command `stream` follows a topic: by a run that ends with what is there, and by one that lasts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hoodie.clock import SystemClock
from hudi_services.cli.program import main
from tests.support.orders import delete, insert, update

pytestmark = pytest.mark.process


@pytest.fixture
def stream(feed, tmp_path, monkeypatch):
    """Runs `stream` for the table of the feed."""
    monkeypatch.setenv("AIRFLOW_CONN_EVENTS", feed.broker.url)
    (tmp_path / "tables.yaml").write_text(
        "servers: {events: {type: kafka, connection: events, tls: 'off'}}\ntables:\n"
        f"  - {{name: orders, base_path: {feed.table}, keys: {{record_key: id}}, stream: {{}},"
        f" source: {{server: events, topic: {feed.topic}, format: debezium-json, max_messages: 2}}}}\n"
    )
    return lambda *flags: main(["stream", "--table", "orders", "--registry", str(tmp_path / "tables.yaml"), *flags])


def test_all_messages_then_each_new_one_once(feed, stream):
    """Deletes are among the first messages, so these are no bulk insert of rows."""
    feed.send([insert(1), insert(2), update(1, "a"), delete(2)])
    assert stream("--explain") == 0
    assert not feed.table.exists()
    assert stream() == 0
    assert (feed.rows, feed.commits) == ({1: "a"}, 2)
    assert stream() == 0
    assert feed.commits == 2
    feed.send([insert(3), insert(4), insert(5)])
    assert stream("--once") == 0
    assert feed.rows == {1: "a", 3: "new", 4: "new"}
    assert feed.load().instant is not None, "an ingestion goes on where the stream is"
    assert sorted(feed.rows) == [1, 3, 4, 5]


def test_a_run_that_lasts_takes_in_what_comes(feed, stream, monkeypatch):
    """Each time it finds nothing new, a message comes. After the last one its time is over."""
    left, now = [2, 3], SystemClock.now

    def sleep(_clock, _seconds):
        if left:
            feed.send([insert(left.pop(0))], 1)
        else:
            monkeypatch.setattr(SystemClock, "now", lambda clock: now(clock) + timedelta(minutes=31))

    feed.send([insert(1)])
    monkeypatch.setattr(SystemClock, "sleep", sleep)
    assert stream("--for", "30") == 0
    monkeypatch.undo()
    assert (sorted(feed.rows), feed.commits) == ([1, 2, 3], 3)


def test_the_table_of_a_topic_is_no_path(feed, stream, capsys):
    """--source-table is the base path of a Hudi table only without a topic."""
    feed.send([insert(1)])
    assert stream("--source-table", "shop.other") == 0
    assert "nothing to do" in capsys.readouterr().out
    assert not feed.table.exists()
