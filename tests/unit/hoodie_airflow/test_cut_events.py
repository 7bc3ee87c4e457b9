"""Each cut of a server becomes one event, also where tasks fail after the cut and are tried again."""

from __future__ import annotations

import json

from hoodie.storage import open_storage
from hoodie_airflow.assets import cuts_asset
from hoodie_airflow.cut_events import add_cut_events, event_of
from hudi_services.sources.cdc.cuts import Behind, Cut, CutStore, TablePlace
from tests.support.airflow_task import StoredEvents, context

LOG = "server 1, transactions 0-1-7, file of 2026-01-31T12:00:00"


def cut(number, tables=2, **said):
    places = {f"shop.t{table}": TablePlace(f"/lake/t{table // 2}", f"2026{number:013}", "x") for table in range(tables)}
    return Cut(number, f"bin.000001:{number}", LOG, f"2026-01-31T12:{number:02}:00+00:00", places, **said)


def test_an_event_says_which_cut_it_is_and_where_each_hudi_table_is():
    behind = {"shop.u": Behind("a reason", "", "", True, "", "", "")}
    event = event_of("shop", cut(3, behind=behind))
    assert event == {
        "server": "shop",
        "cut": 3,
        "name": "cut 3",
        "position": "bin.000001:3",
        "gtid": "0-1-7",
        "time": "2026-01-31T12:03:00+00:00",
        "targets": {"/lake/t0": "20260000000000003"},
        "targets_left_out": 0,
        "behind": 1,
    }
    many = event_of("shop", cut(3, tables=10_000))
    assert len(many["targets"]) + many["targets_left_out"] == 5_000
    assert len(json.dumps(many)) < 50 * 1024


def test_each_cut_gets_one_event_when_tries_fail_and_the_state_begins_again(tmp_path):
    stored = []

    def run(*numbers, folder="state", fails=False):
        """A try of the task that makes these cuts. Airflow stores its events only if it succeeds."""
        store = CutStore(open_storage(str(tmp_path / folder)), "shop")
        for number in numbers:
            store.put(cut(number))
        task = {**context(), "inlet_events": StoredEvents(stored)}
        add_cut_events("shop", store.newest_first(), task)
        if not fails:
            stored.extend((asset, extra) for _, asset, extra in task["outlet_events"].added)
        return [extra["cut"] for _, _, extra in task["outlet_events"].added]

    assert run(1, fails=True) == [1]
    assert run(2) == [1, 2]
    assert run() == []
    assert run(3, fails=True) == [3]
    assert run(4, 5) == [3, 4, 5]
    assert {asset for asset, _ in stored} == {cuts_asset("shop")}
    assert [extra["cut"] for _, extra in stored] == [1, 2, 3, 4, 5]
    stored[:] = [(asset, {**extra, "time": "2025"}) for asset, extra in stored]
    assert run(1, folder="other") == [1]
    assert run(2, folder="other") == [2]
