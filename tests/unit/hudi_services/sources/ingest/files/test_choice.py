"""Choice and order of a folder's files for a load: patterns, minimal age."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from hoodie.engine import LocalEngine
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.files.names import Names
from hudi_services.sources.ingest.task import IngestTask
from tests.support.clock import FakeClock

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CSV = "id,part,ts,value\n{},p,1,{}\n"


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (
            "o_*.csv",
            ["o_1.csv", "a/o_.csv", "a/b/o_x.y.csv"],
            ["o.csv", "x_o_1.csv", "o_1.csv.gz"],
        ),
        ("new/*", ["new/x", "new/x.csv"], ["x", "new/a/x", "a/new/x"]),
        ("new/**", ["new/x", "new/a/b/x"], ["x", "a/new/x", "newer/x"]),
        ("**/new/*", ["new/x", "a/new/x", "a/b/new/x"], ["anew/x", "new/a/x"]),
        ("a/**/x.csv", ["a/x.csv", "a/b/x.csv", "a/b/c/x.csv"], ["ax.csv", "b/a/x.csv"]),
        ("?.csv", ["a.csv", "d/b.csv"], ["ab.csv", ".csv"]),
        ("[a-c]?.csv", ["ax.csv", "cé.csv"], ["dx.csv", "a/.csv"]),
        ("[!a].csv", ["b.csv"], ["a.csv", "bb.csv"]),
        ("[]].csv", ["].csv"], ["a.csv"]),
        ("[^\\].csv", ["a.csv"], ["\\.csv"]),
        ("x.csv", ["x.csv", "d/x.csv"], ["xxcsv", "x.csv\n"]),
        ("a+(b).csv", ["a+(b).csv"], ["aab.csv"]),
        ("a[.csv", ["a[.csv"], ["a.csv"]),
        ("*", ["x", "a/y\nz"], []),
    ],
)
def test_patterns_of_paths(pattern, matching, others):
    names = Names((pattern,))
    assert [path for path in [*matching, *others] if path in names] == matching


def test_any_of_several_patterns_and_without_one_all():
    assert "x.txt" in Names(("*.csv", "*.txt"))
    assert "anything" in Names()


def explained(landed, **more):
    return IngestTask(landed.request("csv", **more)).explain(LocalEngine(2))


def test_files_of_other_names_are_left_out_and_counted(feed):
    for name in ("orders_1.csv", "a/orders_2.txt", "customers.csv", "_hidden/orders_3.csv"):
        feed.land(name, CSV.format(name.replace("/", "-"), 1))
    said = Feed.model_validate({"pattern": "orders_*"})
    plan = explained(feed, declared=said)
    assert plan.reason == "2 files to load; 1 of other names"
    assert feed.run("csv", declared=said).files_read == 2
    assert set(feed.content) == {"orders_1.csv", "a-orders_2.txt"}


def aged(feed, name, seconds, value=1):
    feed.land(name, CSV.format("k" if value != 1 else name, value))
    at = NOW.timestamp() - seconds
    os.utime(feed.source / name, (at, at))


def test_young_files_wait_for_a_later_run_and_are_told(feed):
    aged(feed, "1.csv", 600)
    aged(feed, "2.csv", 299)
    aged(feed, "3.csv", -60)
    said = Feed.model_validate({"min_age": "5m"})
    plan = explained(feed, declared=said, clock=FakeClock(NOW))
    assert plan.reason == "1 file to load; 2 changed too short a time ago, left to a later run"
    assert plan.as_dict("ingest")["left_out"] == [
        {"path": "2.csv", "reason": "changed too short a time ago"},
        {"path": "3.csv", "reason": "changed too short a time ago"},
    ]
    assert "left out: 2.csv: changed too short a time ago" in plan.as_text("ingest")
    result = feed.run("csv", declared=said, clock=FakeClock(NOW))
    assert (result.files_read, set(feed.content)) == (1, {"1.csv"})
    assert "2 changed too short a time ago" in result.message
    assert feed.run("csv", declared=said, clock=FakeClock(NOW), reload=True).files_read == 1
    later = FakeClock(datetime(2026, 1, 1, 12, 10, tzinfo=UTC))
    assert feed.run("csv", declared=said, clock=later).files_read == 2


@pytest.mark.parametrize(("order", "last"), [("name", 30), ("modified", 10)])
@pytest.mark.parametrize("operation", ["upsert", "insert"])
def test_of_two_rows_of_a_key_and_equal_ordering_the_later_file_s_stands(feed, order, last, operation):
    aged(feed, "1.csv", 10, 10)
    aged(feed, "2.csv", 30, 20)
    aged(feed, "3.csv", 20, 30)
    said = Feed.model_validate({"order": order})
    assert explained(feed, declared=said).as_dict("ingest")["files"][-1]["path"] == (
        "3.csv" if order == "name" else "1.csv"
    )
    feed.run("csv", {"hoodie.combine.before.insert": "true"}, declared=said, operation=operation)
    assert feed.content == {"k": ("p", 1, last)}


def test_files_of_other_endings_are_counted(feed):
    for name in ("a.csv", "b.CSV.gz", "c.txt", "d.csv.bz2", "_SUCCESS"):
        feed.land(name, CSV.format(name, 1))
    assert explained(feed).reason == "2 files to load; 2 of other names"
