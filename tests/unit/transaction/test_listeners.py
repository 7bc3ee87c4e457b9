"""A listener of a change hears of its own instants: before anything of them is written, and once readers see them."""

from __future__ import annotations

from threading import Thread

from hoodie import CLEAN, HoodieTable
from hoodie.transaction.listeners import following
from tests.support.tables import SMALL_BLOOM, batch, create


def seen(table: HoodieTable):
    """Events of the listener: the action, whether it is complete, and whether the table shows it at that moment."""
    heard = []

    def listener(instant):
        known = [each.time for each in table.timeline.instants if each.is_completed == instant.is_completed]
        files = [each.file_name for each in table.timeline.instants if each.time == instant.time]
        shown = instant.time in known if instant.is_completed else any("inflight" in name for name in files)
        heard.append((str(instant.action), instant.is_completed, shown))

    return heard, listener


def test_a_write_is_heard_of_before_it_begins_and_after_it_is_complete(tmp_path):
    table = create(tmp_path / "t")
    heard, listener = seen(table)
    with following(listener):
        table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert heard == [("commit", False, False), ("commit", True, True)]
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert len(heard) == 2


def test_a_clean_is_heard_of_too(tmp_path):
    table = create(tmp_path / "t")
    for number in range(3):
        table.write(batch([("a", "p", number, number)]), "upsert", SMALL_BLOOM)
    heard, listener = seen(table)
    with following(listener):
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert heard == [("clean", False, False), ("clean", True, True)]


def test_what_another_thread_does_is_its_own(tmp_path):
    table = create(tmp_path / "t")
    heard, listener = seen(table)
    with following(listener):
        other = Thread(target=lambda: table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM))
        other.start()
        other.join()
    assert (heard, len(table.timeline.commits)) == ([], 1)
