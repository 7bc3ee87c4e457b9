"""Our entries in a Hive metastore are those of Hudi's own HiveSyncTool. Real parts: a Hive 2.3 metastore, and that tool."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import SYNC, HoodieTable
from hoodie.config.key import resolve
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.errors import SchemaConflictError
from hoodie.sync.connect import open_catalog
from tests.interop.hive_services import hudi_sync_tool
from tests.interop.synced import entry, hms, make, make_of_plain_files, rows
from tests.support.matrix import other_server, sample

pytestmark = pytest.mark.interop
# Servers and Hudi's tool add these for themselves.
THEIRS = {"hudi_writer_version", "transient_lastDdlTime", "numFiles", "totalSize", "EXTERNAL"}
OURS = {"hoodie.table.partition_extractor_class"}


CASES = {
    "cow": ("COPY_ON_WRITE", "part", "true", "9", "HiveStylePartitionValueExtractor", ["cow"]),
    "days": ("COPY_ON_WRITE", "part", "false", "9", "SlashEncodedDayPartitionValueExtractor", ["days"]),
    "mor": ("MERGE_ON_READ", "part,kind", "false", "9", "MultiPartKeysValueExtractor", ["mor", "mor_ro", "mor_rt"]),
    "flat": ("COPY_ON_WRITE", "", "false", "9", "NonPartitionedExtractor", ["flat"]),
    "old": ("COPY_ON_WRITE", "part", "true", "6", "HiveStylePartitionValueExtractor", ["old"]),
    "taken": ("bootstrapped", "part", "true", "9", "HiveStylePartitionValueExtractor", ["taken"]),
}


@pytest.mark.parametrize("name", sample(CASES, list(CASES).index("mor")))
def test_entries_are_those_of_hudis_own_tool(tmp_path, metastore, name):
    table_type, fields, hive_style, version, extractor, names = CASES[name]
    values = {"part": pa.array(["2020/01/06", "2020/01/07"])} if name == "days" else {}
    if table_type == "bootstrapped":
        table = make_of_plain_files(tmp_path, name)
    else:
        table = make(tmp_path, name, table_type, fields, hive_style, version, **values)
    flags = [part for field in fields.split(",") if field for part in ("--partitioned-by", field)]
    flags += ["--partition-value-extractor", "org.apache.hudi.hive." + extractor, "--support-timestamp"]
    hudi_sync_tool(metastore.port, table.base_path, "--database", "theirs", "--table", name, *flags)
    options = hms(metastore, database="ours", support_timestamp=True)
    assert table.run(SYNC, options).extractor.endswith(extractor)
    for each in names:
        (theirs, their_parts), (ours, our_parts) = entry(options, "theirs", each), entry(options, "ours", each)
        assert ours.columns == theirs.columns
        assert ours.partition_columns == theirs.partition_columns
        for field in ("location", "input_format", "output_format", "serde", "serde_properties", "managed"):
            assert getattr(ours, field) == getattr(theirs, field), field
        plain = [
            {key: value for key, value in table.properties.items() if key not in THEIRS | OURS}
            for table in (ours, theirs)
        ]
        assert plain[0] == plain[1]
        assert our_parts == their_parts

    # Hudi's tool goes on with our entries, and we with Hudi's: neither finds anything to change.
    before = [entry(options, "ours", each) for each in names]
    hudi_sync_tool(metastore.port, table.base_path, "--database", "ours", "--table", name, *flags)
    for (was, parts), each in zip(before, names, strict=True):
        now, parts_now = entry(options, "ours", each)
        assert parts_now == parts
        assert {key: now.properties[key] for key in was.properties if key not in THEIRS} == {
            key: value for key, value in was.properties.items() if key not in THEIRS
        }
    adopted = table.run(SYNC, hms(metastore, database="theirs", support_timestamp=True)).actions
    assert {key for action in adopted for key in action.properties} <= OURS


@other_server
def test_partitions_and_columns_follow_the_table(tmp_path, metastore, hudi12):
    table = make(tmp_path, "life", "COPY_ON_WRITE", "part", "true")
    options = hms(metastore, database="life", batch_num=1)
    table.run(SYNC, options)
    _, parts = entry(options, "life", "life")
    assert set(parts) == {("p1",), ("p 2",)}

    added = rows(["c"], part=pa.array(["p3"])).append_column("more", pa.array([7], pa.int32()))
    table.write(added, "upsert")
    plan = table.run(SYNC, options)
    assert "1 commit since" in plan.reason
    made, parts = entry(options, "life", "life")
    assert made.columns[-1].name == "more"
    assert ("p3",) in parts
    assert '"name":"more"' in made.properties["spark.sql.sources.schema.part.0"]

    write = {
        "hoodie.table.name": "life",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.precombine.field": "ts",
    }
    delete = {
        "hoodie.datasource.write.operation": "delete_partition",
        "hoodie.datasource.write.partitions.to.delete": "part=p1",
    }
    hudi12.write(table.base_path, rows(["a"]), write | delete)
    table = HoodieTable.open(table.base_path)
    assert [type(action).__name__ for action in table.run(SYNC, options).actions] == ["DropPartitions", "SetProperties"]
    _, parts = entry(options, "life", "life")
    assert set(parts) == {("p 2",), ("p3",)}
    full = options | {"hoodie.meta.sync.incremental": "false"}
    assert table.run(SYNC, full).actions == (), "what was deleted and not yet cleaned is not taken up again"

    overwrite = {**write, "hoodie.datasource.write.operation": "insert_overwrite_table"}
    hudi12.write(table.base_path, rows(["z"]).append_column("more", pa.array([8], pa.int32())), overwrite)
    table = HoodieTable.open(table.base_path)
    assert "AddPartitions" in [type(action).__name__ for action in table.run(SYNC, options).actions]
    assert set(entry(options, "life", "life")[1]) == {("p1",)}
    assert table.run(SYNC, full).actions == ()


@other_server
def test_columns_that_hive_compares_by_position(tmp_path, metastore):
    table = make(tmp_path, "cols", "COPY_ON_WRITE", "part", "true")
    options = hms(metastore, database="cols", username="ada")
    table.run(SYNC, options)
    # An older entry with a column that the table does not have any more, and a narrower one.
    with open_catalog(resolve(options, SYNC_KEYS)) as catalog:
        made = catalog.table("cols", "cols")
        client = catalog._client
        old = client.get_table("cols", "cols")
        assert old.owner == "ada"
        hive = type(old.sd.cols[0])
        old.sd.cols = [hive(f.name, "int" if f.name == "ts" else f.type, "") for f in old.sd.cols]
        old.sd.cols.insert(6, hive("gone", "binary", ""))
        client.drop_table("cols", "cols", False)
        client.create_table(old)
    table.run(SYNC, options)
    assert entry(options, "cols", "cols")[0].columns == made.columns
    with open_catalog(resolve(options, SYNC_KEYS)) as catalog:
        old = catalog._client.get_table("cols", "cols")
        old.sd.cols = [hive(f.name, "string" if f.name == "price" else f.type, "") for f in old.sd.cols]
        catalog._client.drop_table("cols", "cols", False)
        catalog._client.create_table(old)
    with pytest.raises(SchemaConflictError, match=r"'price'.*string in the catalog, double"):
        table.run(SYNC, options)
