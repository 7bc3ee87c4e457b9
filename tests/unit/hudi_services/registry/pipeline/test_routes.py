"""Routes of Flink CDC's documentation."""

from __future__ import annotations

import pytest

ROUTES = [
    (
        r"[{source-table: mydb.web_order, sink-table: mydb.ods_web_order, description: one}]",
        {"mydb.web_order": "/lake/mydb/ods_web_order", "mydb.other": "/lake/mydb/other"},
    ),
    (
        r"[{source-table: 'mydb\.*', sink-table: mydb.ods_web_order}]",
        {"mydb.a": "/lake/mydb/ods_web_order", "mydb_2.b": "/lake/mydb/ods_web_order", "x.a": "/lake/x/a"},
    ),
    (
        r"[{source-table: 'source_db.\.*', sink-table: sink_db.<>, replace-symbol: <>}]",
        {"source_db.a": "/lake/sink_db/a", "source_db.b": "/lake/sink_db/b", "b.a": "/lake/b/a"},
    ),
    (
        r"[{source-table: 'db_(\.*).(\.*)_tbl', sink-table: sink_db_$1.sink_table_$2}]",
        {"db_foo.bar_tbl": "/lake/sink_db_foo/sink_table_bar", "db_foo.bar": "/lake/db_foo/bar"},
    ),
    (
        r"[{source-table: a.orders, sink-table: ods.orders}, {source-table: b.orders, sink-table: ods.orders}]",
        {"a.orders": "/lake/ods/orders", "b.orders": "/lake/ods/orders", "a.Orders": "/lake/a/Orders"},
    ),
]


@pytest.mark.parametrize(("routes", "expected"), ROUTES)
def test_routes_say_where_tables_go_and_others_keep_their_names(read, paths, pipeline, routes, expected):
    text = pipeline(r"\.*.\.*")
    taken, result = paths(read(f"{text}route: {routes}\n"), *expected)
    assert taken == expected
    assert result.unmatched == ()
    merged = {route.base_path for route in result.routes if route.rule.merge}
    assert merged == {path for path in expected.values() if list(expected.values()).count(path) > 1}
