"""A broker that is killed while a load reads: the load waits or ends, and every message counts once."""

from __future__ import annotations

from threading import Thread

import pytest

from hoodie import HoodieTable
from hoodie.errors import SourceUnavailableError
from hudi_services.sources.ingest.kafka import brokers, consumer
from hudi_services.sources.ingest.kafka.consumer import RangeReader
from tests.support.orders import insert, update

pytestmark = pytest.mark.process
MESSAGES = 200  # in each partition
LONG = "é" * 400  # a fetch has a few messages


@pytest.fixture
def killed_at(feed, monkeypatch):
    """A function that makes the broker die once a number of messages were read. `restarts` brings it back at once."""
    settings = RangeReader._consumer_settings
    # The client asks for the next few messages only when it has handed out those before.
    few = {
        "queued.min.messages": 1,
        "message.max.bytes": 3000,
        "fetch.max.bytes": 3000,
        "max.partition.fetch.bytes": 1000,
    }
    monkeypatch.setattr(RangeReader, "_consumer_settings", lambda *given: {**settings(*given), **few})
    monkeypatch.setattr(consumer, "_AT_ONCE", 10)
    taken, count = consumer._add, []

    def kill_at(number, *, restarts):
        def take(part, message):
            count.append(message)
            if len(count) == number:
                feed.broker.kill()
                if restarts:
                    threads.append(Thread(target=feed.broker.start))
                    threads[-1].start()
            return taken(part, message)

        monkeypatch.setattr(consumer, "_add", take)

    threads = []
    yield kill_at
    for thread in threads:
        thread.join()


def send(feed):
    feed.send([insert(number, LONG) for number in range(MESSAGES)])
    feed.send([update(number, LONG) for number in range(MESSAGES, 2 * MESSAGES)], 1)


def assert_whole(feed):
    rows = HoodieTable.open(str(feed.table)).read(columns=["id", "name"])
    assert sorted(rows["id"].to_pylist()) == list(range(2 * MESSAGES))
    assert set(rows["name"].to_pylist()) == {LONG}
    assert feed.load().message.startswith("nothing to do")


@pytest.mark.deep("the other test has a restart, too, and starting a broker takes seconds")
def test_a_load_waits_for_a_broker_that_comes_back_and_takes_each_message_once(feed, killed_at):
    send(feed)
    killed_at(MESSAGES, restarts=True)
    feed.load()
    assert feed.commits == 1
    assert_whole(feed)


def test_a_load_whose_broker_stays_away_ends_and_the_next_one_goes_on(feed, killed_at, monkeypatch):
    send(feed)
    killed_at(MESSAGES + 30, restarts=False)  # within the second commit
    monkeypatch.setattr(consumer, "_PATIENCE", 2.0)
    with pytest.raises(SourceUnavailableError, match="events") as raised:
        feed.load(max_messages=MESSAGES)
    assert raised.value.retryable
    assert feed.commits == 1
    monkeypatch.setattr(brokers, "SECONDS", 1.0)
    with pytest.raises(SourceUnavailableError, match="do not answer"):
        feed.load()
    monkeypatch.undo()
    feed.broker.start()
    feed.load(max_messages=MESSAGES)
    assert_whole(feed)
