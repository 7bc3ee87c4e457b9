"""Keys that a registry check refuses or warns of."""

from __future__ import annotations

import pytest

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
    found = [line for entry in ENTRIES for line in entry.section.warnings(table)]
    assert [line[:45] for line in found] == ["key a is unique in each day only, by the inde"] * warned
