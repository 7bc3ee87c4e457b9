"""Events of a long transaction, in memory and in a file."""

from __future__ import annotations

import random

import pytest

from hudi_services.sources.cdc.mysql.binlog import event_spool
from hudi_services.sources.cdc.mysql.binlog.event_spool import EventSpool
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind


def made(number):
    return Event(number, Kind.WRITE_ROWS_V1, number * 7, bytes([number % 256]) * (number % 50))


@pytest.mark.parametrize("memory", [0, 300, 1 << 20])
def test_it_is_a_list_wherever_the_events_are(monkeypatch, memory):
    monkeypatch.setattr(event_spool, "_MEMORY", memory)
    draw, spool, model = random.Random(memory), EventSpool(), []
    for number in range(500):
        kind = draw.randrange(20)
        if kind == 0:
            count = draw.randint(0, len(model))
            spool.cut(count)
            del model[count:]
        elif kind == 1:
            assert list(spool.taken()) == model
            model = []
        elif kind == 2 and number % 5 == 0:
            spool.clear()
            model = []
        else:
            spool.append(made(number))
            model.append(made(number))
        assert len(spool) == len(model)
    assert list(spool.taken()) == model
    assert list(spool.taken()) == []


def test_a_cut_at_the_length_keeps_all(monkeypatch):
    monkeypatch.setattr(event_spool, "_MEMORY", 10)
    spool = EventSpool()
    for number in (40, 41):
        spool.append(made(number))
    spool.cut(2)
    assert list(spool.taken()) == [made(40), made(41)]
