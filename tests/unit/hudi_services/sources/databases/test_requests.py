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
    assert store.latest() == Requests(2, {"a.b": 1, "a.c": 2})
    store.done({"a.b": 1})
    assert store.latest().resumed == {"a.c": 2}
    store.done({})
    assert store.latest().number == 3


def test_a_request_that_comes_while_a_run_goes_on_is_for_the_next_one(tmp_path):
    """The table was parked once more in that run, or the user did not wait for its end."""
    store = RequestStore(open_storage(str(tmp_path)), "shop")
    store.resume(frozenset({"a.b", "a.c"}))
    taken = store.latest().resumed
    store.resume(frozenset({"a.b", "a.d"}))
    store.done(taken)
    assert set(store.latest().resumed) == {"a.b", "a.d"}


def test_rows_are_read_again_where_a_request_says_so(tmp_path):
    store = RequestStore(open_storage(str(tmp_path)), "shop")
    store.resume(frozenset({"a.b", "a.c"}), fresh=True)
    store.resume(frozenset({"a.d"}))
    taken = store.latest()
    assert taken.fresh == {"a.b", "a.c"}
    store.skip(frozenset({"a.c"}))
    store.done(taken.resumed)
    assert store.latest().fresh == frozenset()


def test_requests_of_earlier_releases_are_read(tmp_path):
    (tmp_path / "shop/requests").mkdir(parents=True)
    (tmp_path / "shop/requests/0000000003.json").write_text('{"resumed": ["a.b"], "skipped": []}')
    assert RequestStore(open_storage(str(tmp_path)), "shop").latest() == Requests(3, {"a.b": 3})


def test_a_table_is_skipped_until_it_is_resumed(tmp_path):
    store = RequestStore(open_storage(str(tmp_path)), "shop")
    store.resume(frozenset({"a.b"}))
    store.skip(frozenset({"a.b", "a.c"}))
    store.done({"a.c": 1})
    assert store.latest() == Requests(2, {}, frozenset({"a.b", "a.c"}))
    store.resume(frozenset({"a.b"}))
    assert store.latest() == Requests(3, {"a.b": 3}, frozenset({"a.c"}))


def test_a_request_of_another_process_at_the_same_time_stays(tmp_path):
    store = RequestStore(open_storage(str(tmp_path)), "shop")
    others = ["x.a", "x.b"]

    def step(before):
        if others:
            store.resume(frozenset({others.pop()}))
        return replace(before, resumed={**before.resumed, "x.own": 1})

    store.change(step)
    assert set(store.latest().resumed) == {"x.a", "x.b", "x.own"}
    others.extend("abcdefgh")
    with pytest.raises(PendingInstantError):
        store.change(lambda before: replace(step(before), resumed={}))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "shop/requests").mkdir(parents=True)
    (tmp_path / "shop/requests/0000000001.json").write_text('{"other": 1}')
    with pytest.raises(CorruptTableError, match=r"requests/0000000001\.json"):
        RequestStore(open_storage(str(tmp_path)), "shop").latest()
