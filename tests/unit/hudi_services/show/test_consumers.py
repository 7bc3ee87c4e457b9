"""The page of consumers."""

from __future__ import annotations

from hudi_services.commandline.flags import ChosenTable
from hudi_services.show.consumers import consumers
from hudi_services.show.look import look_at
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
