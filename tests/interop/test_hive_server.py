"""Apache Hive's own HiveServer2 and metastore (4.0.1) take our statements, and the two ways to sync agree on what is there.

The server answers queries, too: those of rows by itself, others by jobs of MapReduce in its process.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pyarrow as pa
import pytest
from impala.error import Error

from hoodie import SYNC
from hoodie.config.key import resolve
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.errors import ConfigError
from hoodie.sync.connect import open_catalog
from hoodie.sync.model import CatalogPartition, DropPartitions, MovePartitions, ReplaceColumns
from hoodie.sync.plan import same_place
from tests.interop import peer_env
from tests.interop.hive_services import JavaService, start_hive_metastore, start_hive_server
from tests.interop.synced import entry, hms, jdbc, make, query, rows

# SQL's catalog on this metastore, too: Hive 4 has not all calls of Hive 2.
from tests.interop.test_hive_catalog import (  # noqa: F401
    test_a_table_is_made_written_and_forgotten,
    test_the_pair_of_a_merge_on_read_table,
)
from tests.support.matrix import other_server

pytestmark = pytest.mark.interop
FULL = {"hoodie.meta.sync.incremental": "false"}
# name: type, partition columns, hive style, partitions of the two rows
TABLES = {
    "cow": ("COPY_ON_WRITE", "part", "true", ["b'c", "x%y"]),
    "flat": ("COPY_ON_WRITE", "", "false", ["p", "q"]),
    "days": ("COPY_ON_WRITE", "part", "false", ["2020/01/06", "2020/01/07"]),
    "mor": ("MERGE_ON_READ", "part,kind", "false", ["p1", "p 2"]),
}


@pytest.fixture(scope="module")
def metastore() -> Iterator[JavaService]:
    peer_env.ensure_hive()
    service = start_hive_metastore()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def server(metastore: JavaService) -> Iterator[JavaService]:
    service = start_hive_server(metastore)
    yield service
    service.stop()


@other_server
@pytest.mark.parametrize("name", TABLES)
def test_both_ways_agree(tmp_path, metastore, server, name):
    *layout, parts = TABLES[name]
    table = make(tmp_path, name, *layout, part=pa.array(parts))
    ways = {"by_sql": jdbc(server, database="by_sql"), "by_hms": hms(metastore, database="by_hms")}
    found = {}
    for database, options in ways.items():
        assert table.run(SYNC, options).actions
        assert table.run(SYNC, options | FULL).actions == ()
        found[database] = [entry(way, database, name) for way in ways.values()]
    (sql, _), (by_hms, _) = found["by_sql"][0], found["by_hms"][1]
    assert sql.columns == by_hms.columns
    for database, [(as_sql, parts_sql), (as_hms, parts_hms)] in found.items():
        assert as_sql.partition_columns == as_hms.partition_columns, database
        assert parts_sql == parts_hms, database
        for field in ("columns", "location", "input_format", "output_format", "serde", "managed"):
            assert getattr(as_sql, field) == getattr(as_hms, field), (database, field)
    for database, options in zip(reversed(ways), ways.values(), strict=True):
        theirs = {key: value.replace(*reversed(ways)) for key, value in options.items()} | FULL
        assert table.run(SYNC, theirs).actions == (), f"{database} was made by the other way"


@other_server
def test_a_partition_of_nulls(tmp_path, metastore, server):
    table = make(tmp_path, "nulls", "COPY_ON_WRITE", "part", "true", part=pa.array(["p", None]))
    with pytest.raises(ConfigError, match="mode=hms"):
        table.run(SYNC, jdbc(server, database="nulls"))
    with open_catalog(resolve(jdbc(server), SYNC_KEYS)) as catalog:
        assert not catalog.has_database("nulls"), "refused before anything was written"
        assert table.run(SYNC, hms(metastore, database="nulls")).actions
        with pytest.raises(Error, match="10111"):
            catalog._cursor.execute("ALTER TABLE nulls.nulls ADD PARTITION (part='__HIVE_DEFAULT_PARTITION__')")
    assert set(entry(jdbc(server), "nulls", "nulls")[1]) == {("p",), ("__HIVE_DEFAULT_PARTITION__",)}
    assert table.run(SYNC, jdbc(server, database="nulls") | FULL).actions == ()


@other_server
def test_partitions_and_columns_follow_the_table(tmp_path, metastore, server):
    table = make(tmp_path, "life", "COPY_ON_WRITE", "part", "true")
    options = jdbc(server, database="life", batch_num=1)
    table.run(SYNC, options)
    table.write(rows(["d"], part=pa.array(["p3"])).append_column("more", pa.array([7], pa.int32())), "upsert")
    table.run(SYNC, options)
    made, parts = entry(options, "life", "life")
    assert made.columns[-1].name == "more"
    assert set(parts) == {("p1",), ("p 2",), ("p3",)}
    elsewhere = CatalogPartition(("p1",), f"{made.location}/elsewhere")
    gone = tuple(CatalogPartition((value,), "") for value in ("p 2", "p3"))
    with open_catalog(resolve(options, SYNC_KEYS)) as catalog:
        catalog.apply(MovePartitions(made, (elsewhere,)))
        catalog.apply(DropPartitions(made, gone))
        catalog.apply(ReplaceColumns(made, made.columns[:-1], "drop more"))
    changed, left = entry(hms(metastore), "life", "life")
    assert left == {("p1",): elsewhere.location}
    assert changed.columns == made.columns[:-1]
    kinds = [type(action).__name__ for action in table.run(SYNC, options | FULL).actions]
    assert kinds == ["AddColumns", "AddPartitions", "MovePartitions"]
    again, parts_again = entry(options, "life", "life")
    assert again.columns == made.columns
    assert {key: same_place(place) for key, place in parts_again.items()} == {
        key: same_place(place) for key, place in parts.items()
    }


@other_server
@pytest.mark.parametrize(("kind", "version"), product(["COPY_ON_WRITE", "MERGE_ON_READ"], ["6", "9"]))
def test_queries(tmp_path, metastore, server, kind, version):
    """Logs are merged. Hudi's classes are made for Hive 3, whose structs and timestamps Hive 4 does not take: it says so."""
    name = f"asked_{kind[:3].lower()}_{version}"
    table = make(tmp_path, name, kind, "part", "true", version)
    table.write(rows(["c", "d"]), "insert")
    table.write(rows(["a"], Price=pa.array([9.5])), "upsert")
    table.write(rows(["b"], part=pa.array(["p 2"])), "delete")
    table.run(SYNC, hms(metastore, database="asked", support_timestamp=True))
    columns, merged = "id, price, part, tags['k']", kind == "MERGE_ON_READ"
    for entry_name in (name, f"{name}_rt") if merged else (name,):
        found = query(server, f"select {columns} from asked.{entry_name}")
        assert found == [("a", 9.5, "p1", 1), ("c", 1.5, "p1", 1), ("d", 1.5, "p 2", 1)]
        assert query(server, f"select id from asked.{entry_name} where part = 'p1' and price > 2") == [("a",)]
        for refused, said in {"at": "TimestampWritable", "nest.x": "getAllStructFieldTypeInfos"}.items():
            with pytest.raises(Error, match=said):
                query(server, f"select {refused} from asked.{entry_name}")
    if merged:
        older = [("a", 1.5), ("b", 1.5), ("c", 1.5), ("d", 1.5)]
        assert query(server, f"select id, price from asked.{name}_ro") == older


@other_server
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_jobs(tmp_path, metastore, server, kind):
    """A timestamp that is synced as a bigint, as it is by default, can be read."""
    name = f"job_{kind[:3].lower()}"
    table = make(tmp_path, name, kind, "part", "false")
    table.write(rows(["c", "d"]), "insert")
    table.write(rows(["a"], Price=pa.array([9.5])), "upsert")
    table.write(rows(["b"], part=pa.array(["p 2"])), "delete")
    table.run(SYNC, hms(metastore, database="jobs"))
    asked = f"select part, count(*), sum(price), max(at) from jobs.{name} group by part"
    assert query(server, asked) == [("p 2", 1, 1.5, 1_000_000), ("p1", 2, 11.0, 1_000_000)]
