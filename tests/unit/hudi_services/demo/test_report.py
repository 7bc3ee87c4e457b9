"""The demo's report of its runs."""

from __future__ import annotations

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


def test_a_step_is_one_line():
    console = report.console()
    clean = step(files_deleted=2, bytes_deleted=155_400)
    load = step(
        files_read=3, rows_read=3576, rows_inserted=926, rows_updated=929, files_written=2, bytes_written=132_900
    )
    with console.capture() as shown:
        console.print(report._steps([load], [clean]))
    lines = [line for line in shown.get().splitlines() if line.strip()]
    assert "2 files, 152 KiB" in lines[-1]
