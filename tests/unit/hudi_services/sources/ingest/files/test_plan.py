"""Choice of the files for a run: pure."""

from __future__ import annotations

from datetime import date

import pytest

from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.ingest.files.checkpoint import LoadedFile
from hudi_services.sources.ingest.files.listing import DatePattern, SourceFile, list_source
from hudi_services.sources.ingest.files.plan import Choice, Window, plan_files

FIRST, SECOND, THIRD = (date(2024, 1, day) for day in (1, 2, 3))


def file(path, day=None, size=10, modified_ms=0):
    return SourceFile(path, size, modified_ms, day)


def taken(**sizes):
    return {path: LoadedFile(size, 0) for path, size in sizes.items()}


FILES = [file("a", FIRST), file("b", SECOND), file("c", THIRD), file("d")]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (Window(), "abcd"),
        (Window(SECOND), "bc"),
        (Window(None, SECOND), "a"),
        (Window(SECOND, THIRD), "b"),
        (Window(SECOND, SECOND), ""),
    ],
)
def test_a_window_is_half_open_and_leaves_out_files_without_a_date(window, expected):
    plan = plan_files(FILES, {}, Choice(window))
    assert "".join(each.path for each in plan.files) == expected
    assert plan.outside_window == 4 - len(expected)


def test_files_loaded_before_are_left_out():
    plan = plan_files(FILES, taken(a=10, c=10, gone=1), Choice())
    assert [each.path for each in plan.files] == ["b", "d"]
    assert (plan.loaded_before, plan.changed) == (2, ())
    assert plan.reason == "2 files to load; 2 loaded before"


def test_a_file_that_changed_after_it_was_loaded_is_told_and_not_loaded():
    plan = plan_files(FILES, taken(a=9, b=10), Choice())
    assert [each.path for each in plan.files] == ["c", "d"]
    assert [each.path for each in plan.changed] == ["a"]
    assert "1 changed after they were loaded (--reload loads them again)" in plan.reason


def test_a_file_of_the_same_size_and_another_time_changed_too():
    loaded = {"a": LoadedFile(10, 7), "b": LoadedFile(10, 7), "c": LoadedFile(10), "d": LoadedFile(10, 8)}
    files = [file(path, modified_ms=modified) for path, modified in zip("abcd", (7999, 8000, 8000, 7999), strict=True)]
    plan = plan_files(files, loaded, Choice())
    assert [each.path for each in plan.changed] == ["b", "d"], "of c nobody noted the time"
    assert plan.loaded_before == 2


def test_reload_takes_all_of_the_window_and_nothing_else():
    plan = plan_files(FILES, taken(a=10, b=9, c=10), Choice(Window(SECOND), reload=True))
    assert [each.path for each in plan.files] == ["b", "c"]
    assert plan.changed == ()


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("dt=%Y-%m-%d", "dt=2024-02-29/x.csv", date(2024, 2, 29)),
        ("dt=%Y-%m-%d", "dt=2023-02-29/x.csv", None),
        ("dt=%Y-%m-%d", "x.csv", None),
        ("%Y/%m/%d", "in/2024/01/03/x.csv", THIRD),
        ("_%Y%j.", "trips_2024003.csv", THIRD),
        ("%d.%m.%y", "03.01.24.csv", THIRD),
        ("v1.%Y-%m-%d", "v1x2024-01-03", None),
        ("%Y/%Y-%m-%d", "2024/2024-01-03/x.csv", THIRD),
        ("%Y/%Y-%m-%d", "2023/2024-01-03/x.csv", None),
    ],
)
def test_dates_in_paths(pattern, path, expected):
    assert DatePattern(pattern).find(path) == expected


@pytest.mark.parametrize("pattern", ["dt=%Y-%m", "day", "%Y-%m-%d %H", "%y-%j"])
def test_a_pattern_that_names_no_day_is_refused(pattern):
    with pytest.raises(ConfigError, match="names no day"):
        DatePattern(pattern)


def test_hidden_temporary_and_foreign_files_are_passed_over(feed):
    names = [
        "b.csv",
        "a/x.CSV",
        "z.csv.gz",
        "_SUCCESS",
        ".hidden.csv",
        "_tmp/x.csv",
        "x.csv.crc",
        "x.csv.tmp",
        "x.json",
    ]
    for name in names:
        feed.land(name, b"id\n")
    assert [each.path for each in list_source(str(feed.source), "csv", None)] == ["a/x.CSV", "b.csv", "z.csv.gz"]


def test_an_empty_source_is_no_error_and_a_missing_one_is(feed):
    assert list_source(str(feed.source), "csv", None) == []
    with pytest.raises(SourceError, match="is missing"):
        list_source(f"{feed.source}/nowhere", "csv", None)


def test_a_window_needs_a_date_pattern(feed):
    with pytest.raises(ConfigError, match="needs a date pattern"):
        feed.prepare(window=Window(FIRST))
