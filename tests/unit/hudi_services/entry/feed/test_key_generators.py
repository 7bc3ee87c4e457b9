"""All key generators from the registry: the columns that they need have the declared types, even against the files."""

from __future__ import annotations

import pytest
import yaml

from hoodie import HoodieTable
from hudi_services.cli.program import main

TIMES = {
    "hoodie.keygen.timebased.timestamp.type": "EPOCHMICROSECONDS",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM",
}
CASES = [
    pytest.param({"record_key": "id"}, {}, ["007"], {""}, id="not partitioned"),
    pytest.param({"record_key": "id", "partition_by": "code"}, {}, ["007"], {"01"}, id="simple"),
    pytest.param(
        {"record_key": ["id", "code"], "partition_by": ["code", "day"]},
        {},
        ["id:007,code:01"],
        {"01/2026-01-02"},
        id="complex",
    ),
    pytest.param(
        {"record_key": "id", "partition_by": "at"},
        {"hoodie.table.keygenerator.type": "TIMESTAMP", **TIMES},
        ["007"],
        {"2026/01"},
        id="timestamp",
    ),
    pytest.param(
        {"record_key": "id", "partition_by": ["code:SIMPLE", "at:TIMESTAMP"]},
        {"hoodie.table.keygenerator.type": "CUSTOM", **TIMES},
        ["007"],
        {"01/2026/01"},
        id="custom",
    ),
]


@pytest.mark.parametrize(("keys", "options", "found", "folders"), CASES)
def test_keys_and_partitions_of_declared_types(tmp_path, keys, options, found, folders):
    (tmp_path / "land").mkdir()
    (tmp_path / "land/1.csv").write_text("id;code;day;at\n007;01;2026-01-02;2026-01-02 03:04\n")
    source = {
        "path": str(tmp_path / "land"),
        "format": "csv",
        "csv": {"delimiter": ";"},
        "schema": {"id": "string", "code": "string", "day": "date", "at": "timestamp"},
    }
    table = {"name": "t", "base_path": str(tmp_path / "t"), "keys": keys, "source": source, "hoodie": options}
    (tmp_path / "tables.yaml").write_text(yaml.safe_dump({"tables": [table]}))
    for _ in range(2):
        assert main(["ingest", "--registry", str(tmp_path / "tables.yaml"), "--table", "t"]) == 0
    rows = HoodieTable.open(str(tmp_path / "t")).read(columns=["_hoodie_record_key"])
    assert rows["_hoodie_record_key"].to_pylist() == found
    files = (tmp_path / "t").rglob("*.parquet")
    assert {path.parent.relative_to(tmp_path / "t").as_posix().removeprefix(".") for path in files} == folders


@pytest.mark.parametrize(
    ("source", "holds"),
    [
        ({"schema": {"id": "string", "at": "timestamp"}}, "timestamp"),
        ({"cast": {"at": "timestamp_ntz"}}, "timestamp"),
        ({"timestamps": {"at": "epoch_ms"}}, "timestamp"),
        ({"schema": {"id": "string", "Zeit": "date"}, "rename": {"Zeit": "at"}}, "date"),
        ({"schema": {"id": "string", "at": "bigint"}}, None),
        ({}, None),
    ],
)
def test_a_registry_warns_of_folders_of_other_times(tmp_path, capsys, source, holds):
    """The first load of a new table is refused, before anything is created."""
    (tmp_path / "land").mkdir()
    options = {"hoodie.table.keygenerator.type": "TIMESTAMP", **TIMES}
    options["hoodie.keygen.timebased.timestamp.type"] = "EPOCHMILLISECONDS"
    table = {
        "name": "t",
        "base_path": str(tmp_path / "t"),
        "keys": {"record_key": "id", "partition_by": "at"},
        "source": {"path": str(tmp_path / "land"), "format": "csv", **source},
        "hoodie": options,
        "ingest": {"hoodie": {"hoodie.index.type": "GLOBAL_SIMPLE"}},  # or it warns of the key, too
    }
    registry = tmp_path / "tables.yaml"
    registry.write_text(yaml.safe_dump({"tables": [table]}))
    assert main(["registry", "check", str(registry)]) == 0
    said = capsys.readouterr().out
    if holds is None:
        assert "WARNING" not in said
        return
    assert f"WARNING   partition column 'at': a {holds} is kept as " in said
    assert "which are taken for milliseconds" in said
    name, value = ("Zeit", "2026-07-01") if "rename" in source else ("at", "2026-07-01 00:00")
    (tmp_path / "land/1.csv").write_text(f"id,{name}\n1,{1782864000000 if 'timestamps' in source else value}\n")
    assert main(["ingest", "--registry", str(registry), "--table", "t"]) == 2
    assert "takes the times of partition column 'at' for others" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()
