"""daft, Ray and ClickHouse read our tables as docs/reference/readers.md says: right, as of the last compaction, or not at all."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from tests.interop import peer_env
from tests.interop.synced import rows
from tests.support.matrix import other_server
from tests.support.s3 import KEY, SECRET, moto_server

pytestmark = pytest.mark.interop

NAMES = [
    "cow_6",
    "cow_6_flat",
    "cow_9",
    "cow_9_flat",
    "mor_6",
    "mor_6_flat",
    "mor_6_compacted",
    "mor_9",
    "mor_9_compacted",
]
EMPTIED, MAPPED = "cow_6_emptied", "cow_6_mapped"
AT = "1970-01-01 00:00:01"
RIGHT = [["a", 9.5, "p1", AT], ["c", 1.5, "p1", AT], ["d", 1.5, "p 2", AT]]
OLDER = [["a", 1.5, "p1", AT], ["b", 1.5, "p 2", AT], *RIGHT[1:]]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables of each type and version, with an update and a deletion: partitioned, flat, and compacted after these. One has
    a file without rows, one a column of maps."""
    folder = tmp_path_factory.mktemp("tables")
    for name in (*NAMES, EMPTIED, MAPPED):
        kind, version, *more = name.split("_")
        options = {
            "hoodie.table.name": name,
            "hoodie.table.type": {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}[kind],
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.ordering.fields": "ts",
            "hoodie.table.partition.fields": "" if "flat" in more else "part",
            "hoodie.datasource.write.hive_style_partitioning": "true",
            "hoodie.write.table.version": version,
        }
        table = HoodieTable.create(folder / name, options)

        def write(operation, ids, table=table, without=() if "mapped" in more else ("tags",), **values):
            table.write(rows(ids, **values).drop_columns(list(without)), operation)

        write("insert", ["a", "b"])
        write("insert", ["c", "d"])
        write("upsert", ["a"], Price=pa.array([9.5]))
        write("delete", ["b"], part=pa.array(["p 2"]))
        if "emptied" in more:
            write("delete", ["d"], part=pa.array(["p 2"]))
        if "compacted" in more:
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
    return folder


def answers(engine, places, python=peer_env.ensure_readers):
    """Rows of each table, or what the engine said. One process: Ray takes seconds to start."""
    script = Path(__file__).with_name("read_elsewhere.py")
    given = [f"{name}={place}" for name, place in places.items()]
    run = subprocess.run([python(), script, engine, *given], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


def summed(found):
    """Name -> what became of it, in few words."""
    known = {json.dumps(RIGHT): "right", json.dumps(OLDER): "older rows"}
    return {name: known.get(json.dumps(rows), rows) for name, rows in found.items()}


@other_server
def test_daft(tables):
    found = summed(answers("daft", {name: tables / name for name in (*NAMES, EMPTIED)}))
    assert "DaftError" in found.pop(EMPTIED)  # it wants statistics of each file
    for name in NAMES:
        if name.startswith("cow_6"):
            assert found[name] == "right", name
        else:
            reason = "Only support table version 5 and 6" if "cow" in name else "Only support COPY_ON_WRITE table"
            assert reason in found[name], name


@other_server
def test_ray(tables):
    """It reads no logs: a merge-on-read table is as of its last compaction, without a word (docs/reference/readers.md)."""
    found = summed(answers("ray", {name: tables / name for name in (*NAMES, MAPPED)}))
    assert "has a dictionary but is not an integer type" in found.pop(MAPPED)
    for name in NAMES:
        if "_9" in name:
            assert "Only support table version 5 and 6" in found[name], name
        else:
            assert found[name] == ("right" if "cow" in name or "compacted" in name else "older rows"), name


def test_clickhouse(tables):
    """Its table function reads from S3 alone, and no logs."""
    with moto_server() as s3:
        bucket = s3.bucket()
        s3.files().put(f"{tables}/", f"{bucket}/", recursive=True)
        address = f"{s3.endpoint}/{bucket.removeprefix('s3://')}"
        places = {name: f"{address}/{name} {KEY} {SECRET}" for name in NAMES}
        found = summed(answers("clickhouse", places, peer_env.ensure_clickhouse))
    for name in NAMES:
        assert found[name] == ("right" if "cow" in name or "compacted" in name else "older rows"), name
