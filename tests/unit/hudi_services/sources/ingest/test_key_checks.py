"""Keys that a registry check refuses or warns of."""

from __future__ import annotations

from pathlib import Path

import pytest

from hudi_services.demo.home import DemoHome
from hudi_services.registry.load import read_registry
from hudi_services.services.entries import ENTRIES

ENTRY = """
tables:
  - name: t
    base_path: /lake/t
    keys: {keys}
    source: {{path: /in, format: json, {source}}}
"""


def read(tmp_path, keys, source="operation: upsert", more=""):
    (tmp_path / "tables.yaml").write_text(ENTRY.format(keys=keys, source=source) + more)
    return read_registry(str(tmp_path / "tables.yaml"))


@pytest.mark.parametrize(
    ("keys", "source", "told"),
    [
        (
            "{record_key: at}",
            "schema: {at: timestamp}",
            "keys.record_key: 'at' is a timestamp: Hudi's operations write",
        ),
        ("{record_key: at}", "timestamps: {at: epoch_s}", "keys.record_key: 'at' is a timestamp"),
        (
            "{record_key: b}",
            "schema: {a: binary}, rename: {a: b}",
            "keys.record_key: 'b' is a binary, which has no text",
        ),
        ("{record_key: s}", "cast: {s: array<string>}", "keys.record_key: 's' is a array<string>"),
        ("{record_key: s.at}", 'schema: {s: "struct<at: timestamp>"}', "keys.record_key: 's.at' is a timestamp"),
        (
            "{record_key: a, partition_by: at}",
            "cast: {at: timestamp_ntz}",
            "keys.partition_by: 'at' is a timestamp_ntz",
        ),
        ("{record_key: a, partition_by: m}", 'cast: {m: "map<string, int>"}', "keys.partition_by: 'm' is a map"),
        ("{record_key: []}", "operation: upsert", "keys.record_key: names no column; name the columns"),
    ],
)
def test_types_that_a_load_would_refuse(tmp_path, keys, source, told):
    (mistake,) = read(tmp_path, keys, source).mistakes
    assert told in str(mistake)


@pytest.mark.parametrize(
    ("keys", "source", "more"),
    [
        ("{record_key: at}", "cast: {at: timestamp_ntz}", ""),
        ("{record_key: [a, x.y.z], partition_by: day}", 'schema: {a: double, day: date, x: "struct<y: int>"}', ""),
        ("{record_key: x}", "cast: {x: timestamp}, sql: select cast(x as varchar) as x from batch", ""),
        (
            "{record_key: a, partition_by: at}",
            "cast: {at: timestamp}",
            "    hoodie: {hoodie.table.keygenerator.type: TIMESTAMP, "
            "hoodie.keygen.timebased.timestamp.type: EPOCHMICROSECONDS, "
            "hoodie.keygen.timebased.output.dateformat: yyyy-MM-dd}\n",
        ),
    ],
)
def test_types_that_a_load_takes(tmp_path, keys, source, more):
    assert not read(tmp_path, keys, source, more).mistakes


@pytest.mark.parametrize(
    ("keys", "source", "more", "warned"),
    [
        ("{record_key: a, partition_by: day}", "operation: upsert", "", True),
        ("{record_key: a, partition_by: day}", "operation: insert", "", False),
        ("{record_key: [a, day], partition_by: day}", "operation: upsert", "", False),
        ("{record_key: a}", "operation: upsert", "", False),
        (
            "{record_key: a, partition_by: day}",
            "operation: upsert",
            "    ingest: {hoodie: {hoodie.index.type: global_bloom}}\n",
            False,
        ),
        (
            "{record_key: a, partition_by: day}",
            "operation: upsert",
            "    ingest: {hoodie: {hoodie.index.type: BLOOM}}\n",
            True,
        ),
    ],
)
def test_a_key_that_is_unique_in_its_partition_only(tmp_path, keys, source, more, warned):
    (table,) = read(tmp_path, keys, source, more).registry.tables
    assert [line[:45] for line in warnings(table)] == ["key a is unique in each day only, by the inde"] * warned


def warnings(table):
    return [line for entry in ENTRIES for line in entry.section.warnings(table)]


@pytest.mark.parametrize(
    ("keys", "sql"),
    [
        ("{record_key: [a, day, country], partition_by: [country, day]}", None),
        ("{record_key: [c.id], partition_by: [c.id]}", None),
        ("{record_key: a, partition_by: day, fixed_partition: true}", None),
        ("{record_key: [a, moment], partition_by: month}", "select *, strftime(moment, '%Y-%m') as month from batch"),
        (
            "{record_key: [a, moment], partition_by: Month}",
            "select a, Moment as moment, left(MOMENT, 7) as month from batch",
        ),
        ("{record_key: [a, moment], partition_by: month}", "select * replace (left(moment, 7) as month) from batch"),
        ("{record_key: [id], partition_by: hash}", "select key as id, hash(key) % 16 as hash from batch"),
        ("{record_key: a, partition_by: one}", "select *, 'all' as one from batch"),
    ],
)
def test_a_partition_that_is_a_function_of_the_key(tmp_path, keys, sql):
    reading = read(tmp_path, keys, f'sql: "{sql}"' if sql else "operation: upsert")
    assert not reading.mistakes
    (table,) = reading.registry.tables
    assert warnings(table) == []


@pytest.mark.parametrize(
    ("keys", "sql", "where"),
    [
        ("{record_key: [a, day], partition_by: [day, country]}", None, "country"),
        (
            "{record_key: [a], partition_by: [month]}",
            "select *, strftime(moment, '%Y-%m') as month from batch",
            "month",
        ),
        ("{record_key: [a], partition_by: [p]}", "select lower(b) as a, left(b, 1) as p from batch", "p"),
        ("{record_key: [a], partition_by: [p]}", "select lower(a) as a, left(a, 1) as p from batch", "p"),
        ("{record_key: [a], partition_by: [p]}", "select * replace (lower(a) as a), left(a, 1) as p from batch", "p"),
        ("{record_key: [a], partition_by: [p]}", "select b as a, left(a, 1) as p from batch", "p"),
        ("{record_key: [a], partition_by: [p]}", "select a, p from batch", "p"),
        ("{record_key: [a], partition_by: [p]}", "select * from batch", "p"),
    ],
)
def test_a_partition_that_the_key_does_not_decide(tmp_path, keys, sql, where):
    reading = read(tmp_path, keys, f'sql: "{sql}"' if sql else "operation: upsert")
    assert not reading.mistakes
    (table,) = reading.registry.tables
    (line,) = warnings(table)
    assert f" is unique in each {where} only" in line


@pytest.mark.parametrize(("index", "warned"), [("SIMPLE", True), ("GLOBAL_SIMPLE", False)])
def test_the_index_of_a_stream_is_in_its_own_section(tmp_path, index, warned):
    more = f"    stream: {{hoodie: {{hoodie.index.type: {index}}}}}\n    ingest: {{hoodie: {{hoodie.index.type: BLOOM}}}}\n"
    (table,) = read(tmp_path, "{record_key: a, partition_by: day}", more=more).registry.tables
    assert ["below stream.hoodie" in line for line in warnings(table)] == [True] * warned


SERVERS = """
servers:
  shop: {type: mysql, connection: shop, server_id: 5401, state: /state}
  bus: {type: kafka, connection: bus}
tables:
  - {name: t, base_path: /lake/t, keys: {record_key: a, partition_by: day}, source: SOURCE}
"""


@pytest.mark.parametrize(
    ("source", "warned"),
    [("{server: shop, table: d.t}", False), ("{server: bus, topic: t, format: debezium-json}", True)],
)
def test_changes_of_a_database_name_the_row_before(tmp_path, source, warned):
    (tmp_path / "tables.yaml").write_text(SERVERS.replace("SOURCE", source))
    reading = read_registry(str(tmp_path / "tables.yaml"))
    assert not reading.mistakes
    assert [line[:26] for line in warnings(reading.registry.tables[0])] == ["key a is unique in each da"] * warned


def test_the_tables_of_the_demo_have_no_warning(monkeypatch):
    monkeypatch.setenv("HUDI_LAKE", "/lake")
    monkeypatch.setenv("HUDI_LANDING", "/landing")
    tables = read_registry(str(DemoHome(Path("/home")).registry)).registry.tables
    assert [table.name for table in tables] == ["flights", "flights_live", "flights_history"]
    assert [line for table in tables for line in warnings(table)] == []
