"""A load that breaks an expectation stops before anything is written, or is marked."""

from __future__ import annotations

import logging
import os

import pytest

from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, SourceError
from hudi_services.cli.program import main
from hudi_services.entry.feed.model import Feed as Declared
from hudi_services.sources.ingest.expectations.check import check_freshness
from hudi_services.sources.ingest.expectations.results import decoded
from hudi_services.sources.ingest.files.source import FilesSource
from hudi_services.sources.ingest.locations import Places
from hudi_services.sources.ingest.run import run_ingest

ROWS = "id,part,ts,value\na,p,1,5\nb,p,1,-2\nc,p,1,\nb,p,2,9\n"


def declared(**expect):
    return Declared.model_validate({"expect": expect})


def results(feed):
    table = feed.open()
    newest = table.timeline.commits[-1]
    return [(each.check, each.passed, each.found) for each in decoded(table.state().commit_metadata(newest).extra)]


def test_failed_checks_stop_the_load_with_their_numbers(feed):
    feed.land("x.csv", ROWS)
    expect = {"rows": ">= 100", "value": ">= 0", "part": "in ('p')", "unique": ["id"]}
    with pytest.raises(SourceError) as error:
        feed.run("csv", declared=declared(**expect))
    assert "fails 3 checks of 4" in error.value.what
    assert error.value.found == (
        "expected rows >= 100: 4 rows; expected value >= 0: 1 of 4 rows breaks it, such as -2; "
        "expected unique id: 1 value in 2 rows, such as id 'b'"
    )
    assert not feed.table.exists(), "not even a table"
    assert not list(feed.table.with_name(f"{feed.table.name}.quarantine").glob("*/")), "no row is left there"


def test_a_failed_check_leaves_a_table_as_it_was_and_the_files_new(feed):
    feed.land("1.csv", "id,part,ts,value\na,p,1,5\n")
    feed.run("csv", declared=declared(value=">= 0"))
    before = sorted(path for path in feed.table.rglob("*") if path.is_file())
    feed.land("2.csv", "id,part,ts,value\nb,p,1,-5\n")
    with pytest.raises(SourceError, match="fails 1 check of 1"):
        feed.run("csv", declared=declared(value=">= 0"))
    assert sorted(path for path in feed.table.rglob("*") if path.is_file()) == before
    assert feed.run("csv", declared=declared(value=">= -5")).rows_inserted == 1


def test_results_are_in_the_commit_and_failed_ones_warn(feed, caplog):
    feed.land("x.csv", ROWS)
    with caplog.at_level(logging.WARNING):
        done = feed.run("csv", declared=declared(value="between 0 and 9", unique=["id", "ts"], on_failure="warn"))
    assert results(feed) == [
        ("value between 0 and 9", False, "1 of 4 rows breaks it, such as -2"),
        ("unique id, ts", True, "no value in two of 4 rows"),
    ]
    assert "WARNING: 1 of 2 checks failed: expected value between 0 and 9" in done.message
    assert "fails a check and is loaded: expected value between 0 and 9" in caplog.text
    feed.land("y.csv", "id,part,ts,value\nd,p,1,1\n")
    assert "1 check passed" in feed.run("csv", declared=declared(value=">= 0")).message
    feed.land("z.csv", "id,part,ts,value\ne,p,1,1\n")
    feed.run("csv")
    assert results(feed) == [], "a load without expectations"


def test_only_rows_that_would_be_loaded_count(feed):
    feed.land("x.csv", ROWS + "broken\n")
    found = feed.run("csv", declared=declared(rows="= 4"), max_bad_share=0.5)
    assert (found.rows_quarantined, results(feed)[0][2]) == (1, "4 rows")
    assert len(feed.quarantined) == 1


def test_nulls_break_only_not_null(feed):
    feed.land("x.csv", ROWS)
    with pytest.raises(SourceError, match="expected value not null: 1 of 4 rows breaks it, such as null"):
        feed.run("csv", declared=declared(value=["not null", "< 100"]))


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ({"price": "> 0"}, "names the column 'price', which the rows do not have"),
        ({"value": "> 'x'"}, "The condition \"> 'x'\" of column 'value'"),
        ({"unique": ["nope"]}, "names the column 'nope', which cannot be compared"),
    ],
)
def test_checks_that_do_not_fit_the_rows(feed, expect, told):
    feed.land("x.csv", ROWS)
    with pytest.raises(ConfigError, match=told.replace("(", r"\(")):
        feed.run("csv", declared=declared(**expect))
    assert not feed.table.exists()


def test_many_splits_and_few_bytes_of_memory(feed):
    for number in range(6):
        rows = "".join(f"k{n},p,1,{n}\n" for n in range(number * 400, number * 400 + 500))
        feed.land(f"{number}.csv", f"id,part,ts,value\n{rows}")
    with pytest.raises(SourceError, match="expected unique id: 500 values in 1,000 rows, such as id 'k"):
        run_ingest(feed.request("csv", declared=declared(unique=["id"])), LocalEngine(3, memory_bytes=1))


def test_freshness_is_that_of_the_newest_file_loaded_or_not(feed):
    feed.land("x.csv", ROWS)
    feed.run("csv", declared=declared(freshness="1d"))
    assert results(feed)[0][:2] == ("freshness 1d", True)
    for path in feed.source.iterdir():
        os.utime(path, (10**9, 10**9))
    with pytest.raises(
        SourceError, match=r"expected freshness 1d: the newest file is .* old, of 2001-09-09 01:46:40 UTC"
    ):
        feed.run("csv", declared=declared(freshness="1d"))
    done = feed.run("csv", declared=declared(freshness="1d", on_failure="warn"))
    assert "WARNING: 1 of 1 check failed: expected freshness" in done.message


def test_a_source_without_files_is_not_fresh(feed):
    feed.source.mkdir(exist_ok=True)
    source = FilesSource(str(feed.source), "csv", feed=declared(freshness="1d"), clock=SystemClock())
    batch = source.discover(None, Places(str(feed.table), str(feed.table) + ".q"), start_fresh=False)
    (found,) = check_freshness(source, batch)
    assert (found.passed, found.found) == (False, "the source has no file")


def test_explain_names_the_checks_and_a_source_that_is_too_old(feed, capsys):
    feed.land("x.csv", ROWS)
    os.utime(feed.source / "x.csv", (10**9, 10**9))
    flags = [
        "--target-base-path",
        str(feed.table),
        "--source-path",
        str(feed.source),
        "--source-format",
        "csv",
        "--explain",
    ]
    flags += ["--hoodie-conf", "hoodie.table.name=t", "--hoodie-conf", "hoodie.table.recordkey.fields=id"]
    assert main(["ingest", *flags, "--feed", '{"expect": {"value": ">= 0", "unique": "id", "freshness": "2h"}}']) == 0
    told = capsys.readouterr().out
    assert "checks before anything is written: value >= 0, unique id" in told
    assert "WARNING: expected freshness 2h: the newest file is" in told
