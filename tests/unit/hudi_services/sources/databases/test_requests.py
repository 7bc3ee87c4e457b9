"""Requests of users to the next run of a server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.storage import open_storage
from hudi_services.sources.databases.requests import Requests, RequestStore


def test_requests_stay_until_a_run_took_them(tmp_path):
    store = RequestStore(open_storage(str(tmp_path)), "shop")
    assert store.latest() == Requests()
    store.resume(frozenset({"a.b"}))
    store.resume(frozenset({"a.c"}))
    assert store.latest() == Requests(2, frozenset({"a.b", "a.c"}))
    store.done(frozenset({"a.b"}))
    assert store.latest().resumed == {"a.c"}
    store.done(frozenset())
    assert store.latest().number == 3


def test_a_table_is_skipped_until_it_is_resumed(tmp_path):
    store = RequestStore(open_storage(str(tmp_path)), "shop")
    store.resume(frozenset({"a.b"}))
    store.skip(frozenset({"a.b", "a.c"}))
    store.done(frozenset({"a.c"}))
    assert store.latest() == Requests(2, frozenset(), frozenset({"a.b", "a.c"}))
    store.resume(frozenset({"a.b"}))
    assert store.latest() == Requests(3, frozenset({"a.b"}), frozenset({"a.c"}))


def test_a_request_of_another_process_at_the_same_time_stays(tmp_path):
    store = RequestStore(open_storage(str(tmp_path)), "shop")
    others = ["x.a", "x.b"]

    def step(before):
        if others:
            store.resume(frozenset({others.pop()}))
        return replace(before, resumed=before.resumed | {"x.own"})

    store.change(step)
    assert store.latest().resumed == {"x.a", "x.b", "x.own"}
    others.extend("abcdefgh")
    with pytest.raises(PendingInstantError):
        store.change(lambda before: replace(step(before), resumed=frozenset()))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "shop/requests").mkdir(parents=True)
    (tmp_path / "shop/requests/0000000001.json").write_text('{"other": 1}')
    with pytest.raises(CorruptTableError, match=r"requests/0000000001\.json"):
        RequestStore(open_storage(str(tmp_path)), "shop").latest()
