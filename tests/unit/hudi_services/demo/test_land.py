"""The landed feed: deterministic, with updates, late and repeated files, and what the table must hold after it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_services.demo.flights import ACTUALS, KEY, SCHEMA, all_flights, flights_of
from hudi_services.demo.land import damaged_rows, deliveries, expected, land, schedule, settled

FIRST, LAST = date(2013, 1, 29), date(2013, 2, 2)


def test_the_record_key_is_unique_in_the_whole_year() -> None:
    flights = all_flights()
    assert flights.num_rows == 336_776
    assert flights.group_by(list(KEY)).aggregate([([], "count_all")]).num_rows == flights.num_rows
    assert sum(flights[name].null_count for name in KEY) == 0


def test_cancelled_flights_have_no_actuals_and_missing_tails_are_null() -> None:
    flights = all_flights()
    assert flights["departure"].null_count == 8_255
    assert flights["tail_number"].null_count == 2_512
    assert pc.unique(flights["month"]).to_pylist()[:2] == ["2013-01", "2013-10"]


def test_planned_departures_are_utc() -> None:
    first = flights_of(date(2013, 1, 1)).slice(0, 1).to_pylist()[0]
    assert first["planned_departure"] == "2013-01-01T10:15Z"  # 05:15 in New York
    assert str(first["departure"]) == "2013-01-01 10:17:00+00:00"


def test_a_drop_holds_plans_then_actuals_then_late_and_repeated_ones() -> None:
    names = {
        day: [d.path for d in deliveries(FIRST, LAST, day)] for day in (FIRST, date(2013, 1, 30), date(2013, 2, 2))
    }
    assert names[FIRST] == ["dt=2013-01-29/schedule_2013-01-29.parquet"]
    assert "dt=2013-01-30/actuals_2013-01-29.parquet" in names[date(2013, 1, 30)]
    every = [d.path for day in range(29, 32) for d in deliveries(FIRST, LAST, date(2013, 1, day))]
    every += names[date(2013, 2, 2)]
    for word in ("_again", "_late", "schedule_"):
        assert any(word in path for path in every)


def test_schedules_know_nothing_of_what_happens_later() -> None:
    plan = schedule(FIRST)
    assert plan.schema == SCHEMA
    assert all(plan[name].null_count == plan.num_rows for name in ACTUALS)


def test_landing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    landed = [land(tmp_path / name, FIRST, date(2013, 1, 30)) for name in "ab"]
    assert [file.read_bytes() for file, _ in landed[0]] == [file.read_bytes() for file, _ in landed[1]]


def test_the_expected_table_is_the_newest_news_of_each_flight(tmp_path: Path) -> None:
    land(tmp_path, FIRST, LAST)
    drops = [path for path in sorted(tmp_path.glob("*/*.parquet")) if path.parent.name <= f"dt={LAST}"]
    assert any(path.parent.name > f"dt={LAST}" for path in tmp_path.glob("*/*.parquet"))
    rows = pa.concat_tables([pq.read_table(path, partitioning=None) for path in drops])
    good = rows.filter(pc.is_valid(rows["origin"]))
    assert rows.num_rows - good.num_rows == damaged_rows(FIRST, LAST) > 0
    newest = good.sort_by([("arrived_at", "descending")]).group_by(list(KEY), use_threads=False)
    others = [name for name in SCHEMA.names if name not in KEY]
    found = newest.aggregate([(name, "first", pc.ScalarAggregateOptions(skip_nulls=False)) for name in others])
    found = found.rename_columns([name.removesuffix("_first") for name in found.column_names])
    assert (
        found.select(SCHEMA.names)
        .cast(SCHEMA)
        .sort_by([(name, "ascending") for name in KEY])
        .equals(expected(FIRST, LAST))
    )


def test_settled_flights_are_what_the_feed_says_two_days_later() -> None:
    later = expected(FIRST, date(2013, 2, 4))
    keys = settled(FIRST, LAST).select(KEY)
    assert later.join(keys, list(KEY), join_type="right anti").num_rows == 0
    both = later.join(keys, list(KEY), join_type="left semi").select(SCHEMA.names)
    assert both.sort_by([(name, "ascending") for name in KEY]).equals(settled(FIRST, LAST))
