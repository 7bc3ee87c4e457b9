"""The demo's report of its runs."""

from __future__ import annotations

import pytest

from hudi_services.demo import report
from hudi_services.demo.steps import Step


def step(**counts: int) -> Step:
    names = ("read", "inserted", "updated", "quarantined")
    result = {f"rows_{name}": 0 for name in names} | {
        f"{kind}_{done}": 0 for kind in ("files", "bytes") for done in ("read", "written", "deleted")
    }
    return Step("2013-01-29", result | counts, 22.9)


def test_one_and_many_are_told_apart():
    assert report.load_line(step(files_read=1, rows_inserted=1)) == "1 file: 1 row inserted, 0 updated"
    many = step(files_read=3, rows_inserted=1200, rows_updated=765, rows_quarantined=2)
    assert report.load_line(many) == "3 files: 1,200 rows inserted, 765 updated, 2 quarantined"


@pytest.mark.parametrize("width", [78, 118])
def test_a_step_is_one_line(width):
    clean = step(files_deleted=24, bytes_deleted=155_400)
    load = step(
        files_read=3, rows_read=3576, rows_inserted=926, rows_updated=1929, files_written=12, bytes_written=28_057
    )
    lines = [line.text for line in report._steps([load], [clean, clean], width)]
    assert max(map(len, lines)) <= width
    assert (lines[1].startswith("load 2013-01-29"), "27.4 KiB" in lines[1]) == (True, True)
    assert [(line.partition("  ")[0], "24 files, 152 KiB" in line) for line in lines[2:4]] == [
        ("clean 1", True),
        ("clean 2", True),
    ]
    assert lines[4:] == ([] if width > 100 else ["left out: files in, rows, bad, files out"])
