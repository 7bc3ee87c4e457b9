"""Cuts of a server: numbered, never replaced, the oldest removed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.storage import open_storage
from hudi_services.sources.cdc import cuts
from hudi_services.sources.cdc.cuts import Behind, Cut, CutStore, TablePlace

CUT = Cut(
    1,
    "bin.000001:4",
    "transactions 0-1-2",
    "2026-11-26T00:00:00+00:00",
    {"shop.orders": TablePlace("/lake/orders", "20261126000000000", "bin.000001:4")},
    {"shop.\u00e4 b": Behind("a statement", "resume it", "2026-11-26T00:00:00+00:00", True, "", "", "")},
)


@pytest.fixture
def store(tmp_path):
    return CutStore(open_storage(str(tmp_path)), "shop")


def test_the_newest_cut_comes_back(store):
    assert store.latest() is None
    for number in (1, 2, 10):
        store.put(replace(CUT, number=number))
    assert store.latest() == replace(CUT, number=10)


def test_all_cuts_come_back_the_newest_first(store):
    for number in (1, 2, 10):
        store.put(replace(CUT, number=number))
    cuts = store.newest_first()
    assert next(cuts) == replace(CUT, number=10)
    store.storage.delete("shop/cuts/0000000002.json")  # as a sync removes it at the same time
    assert [cut.number for cut in cuts] == [1]


@pytest.mark.parametrize(
    ("log", "server", "gtid"),
    [
        ("server 5, transactions 0-1-7,1-2-9, file of 17", "5", "0-1-7,1-2-9"),
        ("server 5, transactions , file of 17", "5", ""),
        ("server 3e11fa47-71ca, file of 17", "3e11fa47-71ca", ""),
        ("something else", "", ""),
    ],
)
def test_a_cut_says_its_server_and_gtid(log, server, gtid):
    cut = replace(CUT, log=log)
    assert (cut.server_id, cut.gtid) == (server, gtid)


def test_a_number_is_stored_once(store):
    store.put(CUT)
    with pytest.raises(PendingInstantError, match="Another process follows the server shop"):
        store.put(replace(CUT, time="later"))
    assert store.latest() == CUT


def test_old_cuts_are_removed(store, monkeypatch, tmp_path):
    monkeypatch.setattr(cuts, "_KEPT", 2)
    for number in range(1, 5):
        store.put(replace(CUT, number=number))
    assert sorted(path.name for path in (tmp_path / "shop" / "cuts").iterdir()) == [
        "0000000003.json",
        "0000000004.json",
    ]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"number": 1', b'{"tables": {"a": 1}, "behind": {}}'])
def test_a_cut_that_cannot_be_read_is_named(store, tmp_path, body):
    store.put(CUT)
    (tmp_path / "shop" / "cuts" / "0000000001.json").write_bytes(body)
    with pytest.raises(CorruptTableError, match=r"0000000001\.json"):
        store.latest()
