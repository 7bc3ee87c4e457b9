"""Pipelines are refused with the lines of all that is not there."""

from __future__ import annotations

FULL = r"""source:
  type: mysql
  hostname: localhost
  port: 0
  username: root
  password: 0123456
  tables: adb.*, app_db.\.*
  scan.startup.mode: latest-offset
  scan.startup.specific-offset.pos: 4
  server-id: many
  metadata.list: op_ts
  debezium.snapshot.mode: never
  tinyint: 1
  jdbc.properties.password: pa55word
sink:
  type: doris
  fenodes: 127.0.0.1:8030
  password: pa55word
transform:
  - source-table: mydb.web_order
    projection: \*, format('%S', product_name) as product_name, id
    filter: addone(id) > 10 AND order_id > 100
    converter-after-transform: SOFT_DELETE
    table-options: ordering.fields=ts1,comment=web order
    keys: id
route:
  - {source-table: app_db.orders, sink-table: ods_orders}
  - {source-table: a.(b), sink-table: ods.orders_$2}
pipeline:
  schema.change.behavior: try_evolve
  execution.runtime-mode: BATCH
  route-mode: ANY
  user-defined-function:
    - {name: addone, classpath: com.example.functions.AddOneFunctionClass}
flow: {}
"""


def test_all_that_is_not_there_is_refused_at_once_with_its_line(read):
    reading = read(FULL)
    refused = {(one.line, one.key) for one in reading.mistakes}
    lines = FULL.splitlines()
    expected = {
        (4, "source.port"),
        (6, "source.password"),
        (7, "source.tables"),
        *((number, f"source.{lines[number - 1].strip().partition(':')[0]}") for number in (8, 9, 10, 11, 12, 13, 14)),
        (16, "sink.type"),
        *((number, f"transform.1.{lines[number - 1].strip().partition(':')[0]}") for number in (21, 22, 23, 24, 25)),
        (27, "route.1.sink-table"),
        (28, "route.2.sink-table"),
        *((number, f"pipeline.{lines[number - 1].strip().partition(':')[0]}") for number in (30, 31, 32, 33)),
        (35, "flow"),
    }
    assert refused == expected
    messages = "\n".join(map(str, reading.mistakes))
    assert "transform.1.projection: has \"FORMAT('%S', product_name)\", which is not there" in messages
    assert "transform.1.filter: has 'ADDONE(id)', which is not there" in messages
    assert r"as in adb.\.*" in messages
    assert not any(secret in messages for secret in ("123456", "42798", "pa55word"))
    assert (reading.rules, reading.source) == ((), None)
    assert read("source: {type: mysql, password: *pa55}").mistakes[0].line == 1
    assert "pa55" not in str(read("source: {type: mysql, password: !pa55 x}").mistakes)
    missing = read("source: {}").mistakes
    assert {one.key for one in missing} == {
        *(f"source.{key}" for key in ("type", "hostname", "username", "password", "tables")),
        "sink.type",
        "sink.path",
    }
