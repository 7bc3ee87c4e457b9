"""Counts and examples of a report."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.sources.cdc.mysql.equality.report import EqualityReport, Example, Reporter
from hudi_services.sources.cdc.mysql.equality.row_difference import row_difference

SCHEMA = pa.schema([("id", pa.int32()), ("v", pa.string()), ("w", pa.string())])


def difference(server, lake):
    return row_difference(*(pa.Table.from_pylist(rows, SCHEMA) for rows in (server, lake)), ("id",))


FIRST = difference(
    [{"id": 1, "v": "secret"}, {"id": 2, "v": "x", "w": "y"}], [{"id": 2, "v": "x", "w": "z"}, {"id": 3}]
)
SECOND = difference([{"id": 4, "v": "x"}], [{"id": 4, "w": "secret"}])


def test_differences_of_parts_are_added_up_without_values():
    report = EqualityReport("shop/d.t", "bin.000001:4", "20260101000000000")
    for part in (FIRST, SECOND):
        Reporter(report, ("id",), 3, values=False).add(part)
    assert (report.missing, report.surplus, report.changed, report.copied, report.differing) == (1, 1, 2, 0, 4)
    assert report.columns == {"v": 1, "w": 2}
    assert report.examples == [
        Example("missing", {"id": 1}),
        Example("surplus", {"id": 3}),
        Example("changed", {"id": 2}, ["w"]),
    ]
    assert not report.is_equal
    assert "secret" not in repr(report)
    assert [part.num_rows for part in report.counted([FIRST.changes(), SECOND.changes()])] == [3, 1]
    assert report.is_equal


def test_values_of_the_columns_that_differ_are_shown_where_they_are_asked_for():
    report = EqualityReport("shop/d.t", "bin.000001:4", "20260101000000000")
    Reporter(report, ("id",), 9, values=True).add(SECOND)
    [example] = report.examples
    assert example.server == {"v": "x", "w": None}
    assert example.lake == {"v": None, "w": "secret"}
