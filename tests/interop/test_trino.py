"""Trino reads our tables through its Hudi connector. Real parts: Trino 483, a Hive 2.3 metastore."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from hoodie import COMPACTION, SYNC
from tests.interop import peer_env
from tests.interop.hive_services import JavaService
from tests.interop.synced import hms, make, rows
from tests.interop.trino import Trino
from tests.support.matrix import other_server, sample

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def trino(metastore: JavaService) -> Iterator[Trino]:
    peer_env.ensure_trino()
    server = Trino(metastore)
    yield server
    server.stop()


@pytest.fixture
def synced(metastore):
    """Syncs a table: Trino finds its files by local:///."""

    def sync(table):
        place = {"hoodie.datasource.meta.sync.base.path": f"local://{table.base_path}"}
        table.run(SYNC, {**hms(metastore, database="trino", support_timestamp=True), **place})

    return sync


@pytest.mark.parametrize(
    ("fields", "hive_style", "version"),
    sample(
        [
            (*layout, version)
            for layout in [("part", "true"), ("part", "false"), ("", "false")]
            for version in ("6", "9")
        ],
        1,
    ),
)
def test_copy_on_write(tmp_path, trino, synced, version, fields, hive_style):
    name = f"cow_{version}_{fields}_{hive_style}"
    table = make(tmp_path, name, "COPY_ON_WRITE", fields, hive_style, version)
    synced(table)
    table.write(rows(["a", "c"], Price=pa.array([9.5, 2.5])), "upsert")
    table.write(rows(["b"], part=pa.array(["p 2"])), "delete")
    synced(table)
    read = f"select id, price, part, nest.x, tags['k'], to_unixtime(at) from hudi.trino.{name}"
    assert trino.query(read) == [("a", 9.5, "p1", 1, 1, 1.0), ("c", 2.5, "p 2", 1, 1, 1.0)]
    assert trino.query(f"{read} where part = 'p 2'") == [("c", 2.5, "p 2", 1, 1, 1.0)]


@other_server
@pytest.mark.parametrize("version", ["6", "9"])
def test_merge_on_read_is_as_of_the_last_compaction(tmp_path, trino, synced, version):
    """So Trino answers also for tables that Hudi writes: its connector reads no logs (docs/reference/readers.md)."""
    name = f"mor_{version}"
    table = make(tmp_path, name, "MERGE_ON_READ", "part", "true", version)
    table.write(rows(["a"], Price=pa.array([9.5])), "upsert")
    synced(table)
    entries = [f"hudi.trino.{name}{ending}" for ending in ("", "_rt", "_ro")]
    for entry in entries:
        assert trino.query(f"select id, price from {entry}") == [("a", 1.5), ("b", 1.5)], entry
    assert table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    synced(table)
    for entry in entries:
        assert trino.query(f"select id, price from {entry}") == [("a", 9.5), ("b", 1.5)], entry
