"""Transforms say keys, partitions and options."""

from __future__ import annotations


def test_the_first_transform_that_matches_says_key_partitions_and_options(read, paths, pipeline):
    transforms = r"""
transform:
  - source-table: mydb.web_order
    projection: \*
    primary-keys: order_id, product_name
    partition-keys: product_name
    table-options: hoodie.a=1;hoodie.b=2,3
    table-options.delimiter: ";"
  - {source-table: 'mydb.\.*', table-options: hoodie.a=9}
"""
    reading = read(pipeline(r"\.*.\.*") + transforms)
    _, result = paths(reading, "mydb.web_order", "mydb.other", "x.y")
    hoodie = {route.sources[0].full_name: dict(route.rule.hoodie) for route in result.routes}
    assert hoodie == {
        "mydb.other": {"hoodie.a": "9"},
        "mydb.web_order": {
            "hoodie.a": "1",
            "hoodie.b": "2,3",
            "hoodie.table.recordkey.fields": "order_id,product_name",
            "hoodie.table.partition.fields": "product_name",
        },
        "x.y": {},
    }
    assert result.unmatched == ()


def test_projections_and_filters_become_columns_expressions_and_a_condition(read, paths, pipeline):
    transforms = r"""
  local-time-zone: utc
transform:
  - source-table: mydb.web_order
    projection: id, at, DATE_FORMAT(at, 'yyyyMM') AS month
    filter: id > 10 AND id <> 12
    partition-keys: month
  - {source-table: 'mydb.\.*', projection: '\*, UPPER(name) AS upper_name'}
"""
    reading = read(pipeline(r"\.*.\.*") + transforms)
    assert reading.mistakes == ()
    chosen = [(rule.columns, rule.add_columns, rule.where) for rule in reading.rules]
    assert chosen == [
        (("id", "at"), {"month": "strftime(\"at\", '%Y%m')"}, '(("id" > 10) AND ("id" <> 12 OR "id" IS NULL))'),
        ((), {"upper_name": 'upper("name")'}, ""),
        ((), {}, ""),
    ]
    refused = read(pipeline(r"\.*.\.*") + transforms.replace("utc", "Asia/Shanghai")).mistakes
    assert [one.key for one in refused] == ["transform.1.projection"]
    assert "local-time-zone: UTC" in refused[0].message
