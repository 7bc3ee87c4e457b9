"""The page of consumers."""

from __future__ import annotations

import json
from datetime import timedelta

from hoodie.timeline import parse_time
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.consumers import consumer_rows, consumers
from hudi_services.operations.inspect.table_look import look_at
from hudi_services.registry.load import read_registry
from tests.support.changes import write
from tests.support.clock import FakeClock
from tests.support.tables import create


def test_how_far_consumers_are_behind(tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    look = look_at(ChosenTable(str(tmp_path / "t")), clock)
    assert consumers(look).parts[0].empty == "the table has no consumers"
    times = [write(table, [("a", "p", n, n)]) for n in range(4)]
    table.consumer("slow").reset(times[1])
    table.consumer("new").reset("earliest")
    table.consumer("done").reset("latest")
    clock.sleep(3600)
    table.storage.create(".hoodie/.consumers/torn.json", b"{")
    page = consumers(look_at(ChosenTable(str(tmp_path / "t")), clock))
    rows = {row["consumer"]: row for row in page.values["consumers"]}
    assert [rows[name]["commits_behind"] for name in ("new", "slow", "done")] == [4, 2, 0]
    assert rows["done"]["seconds_behind"] == 0
    assert 3600 < rows["slow"]["seconds_behind"] < 3601
    assert 3600 < rows["slow"]["age"] < 3601
    assert rows["slow"]["position"] == times[1]
    assert "torn.json" in page.problems[0]
    assert rows["done"]["held_until"] is None
    assert not any(row["passed"] for row in rows.values())


def test_until_when_services_keep_what_is_unread(tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    write(table, [("a", "p", 1, 1)])
    table.consumer("slow").reset("earliest")
    completed = parse_time(table.timeline.commits[0].completion_time, table.state().zone)

    def row(**services):
        file = tmp_path / "tables.yaml"
        file.write_text(json.dumps({"tables": [{"name": "t", "base_path": table.base_path, **services}]}))
        entry = read_registry(file, {}).registry.table("t")
        ((found,), _) = consumer_rows(look_at(ChosenTable(table.base_path, entry), clock))
        return found["held_until"], found["passed"]

    def hours(number):
        return {"hoodie": {"hoodie.consumer.retention.hours": str(number)}}

    assert row() == ((completed + timedelta(hours=168)).isoformat(), False)
    until = ((completed + timedelta(hours=2)).isoformat(), False)
    assert row(clean=hours(2)) == row(archive=hours(2)) == row(archive=hours(2), clean=hours(9)) == until
    clock.sleep(7201)
    assert row(clean=hours(2))[1]
    assert row(clean=hours(0)) == (None, False)
