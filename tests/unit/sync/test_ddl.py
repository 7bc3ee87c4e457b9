"""The actions in the dialects of Hive and of Spark, and both servers' descriptions of a table."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError, SchemaConflictError
from hoodie.sync.ddl import parse_location, parse_partition_name, parse_table, statements
from hoodie.sync.model import (
    AddColumns,
    AddPartitions,
    CatalogPartition,
    CatalogTable,
    Column,
    CreateTable,
    DropPartitions,
    MovePartitions,
    ReplaceColumns,
    SetProperties,
)

TABLE = CatalogTable(
    "lake",
    "trips",
    (Column("id", "string"), Column("n", "int")),
    (Column("part", "string"),),
    "/lake/o'hare",
    "In",
    "Out",
    "Serde",
    {"path": "/lake/o'hare"},
    {"a": "b"},
)
PARTS = tuple(CatalogPartition((value,), f"/lake/part={value}") for value in ("x", "y", "z"))
ALTER = "ALTER TABLE `lake`.`trips` "


def hive(action, batch=2):
    return list(statements(action, batch, spark=False))


def test_create():
    assert hive(CreateTable(TABLE)) == [
        "CREATE EXTERNAL TABLE IF NOT EXISTS `lake`.`trips` (`id` string, `n` int) PARTITIONED BY (`part` string) "
        "ROW FORMAT SERDE 'Serde' WITH SERDEPROPERTIES ('path'='/lake/o\\'hare') STORED AS INPUTFORMAT 'In' "
        "OUTPUTFORMAT 'Out' LOCATION '/lake/o\\'hare' TBLPROPERTIES ('a'='b')"
    ]


def test_partitions_in_batches():
    assert hive(AddPartitions(TABLE, PARTS)) == [
        ALTER
        + "ADD IF NOT EXISTS PARTITION (`part`='x') LOCATION '/lake/part=x' PARTITION (`part`='y') LOCATION '/lake/part=y'",
        ALTER + "ADD IF NOT EXISTS PARTITION (`part`='z') LOCATION '/lake/part=z'",
    ]
    assert hive(DropPartitions(TABLE, PARTS)) == [
        ALTER + "DROP IF EXISTS PARTITION (`part`='x'), PARTITION (`part`='y')",
        ALTER + "DROP IF EXISTS PARTITION (`part`='z')",
    ]
    assert hive(MovePartitions(TABLE, PARTS[:1])) == [ALTER + "PARTITION (`part`='x') SET LOCATION '/lake/part=x'"]
    assert hive(SetProperties(TABLE, {"k": "v"})) == [ALTER + "SET TBLPROPERTIES ('k'='v')"]


@pytest.mark.parametrize("kind", [AddPartitions, MovePartitions, DropPartitions])
def test_hives_sql_does_not_name_the_partition_of_nulls(kind):
    null = kind(TABLE, (CatalogPartition(("__HIVE_DEFAULT_PARTITION__",), "/lake/part=__HIVE_DEFAULT_PARTITION__"),))
    with pytest.raises(ConfigError, match="mode=hms"):
        hive(null)
    assert list(statements(null, 1, spark=True))


def test_columns_of_partitions_follow_in_hive_and_spark_has_no_word_for_it():
    added = AddColumns(TABLE, (Column("m", "map<string,int>"),))
    assert hive(added) == [ALTER + "ADD COLUMNS (`m` map<string,int>) CASCADE"]
    assert list(statements(added, 1, spark=True)) == [ALTER + "ADD COLUMNS (`m` map<string,int>)"]
    replaced = ReplaceColumns(TABLE, TABLE.columns, "n int -> bigint")
    assert hive(replaced) == [ALTER + "REPLACE COLUMNS (`id` string, `n` int) CASCADE"]
    with pytest.raises(SchemaConflictError, match="n int -> bigint"):
        list(statements(replaced, 1, spark=True))


HIVE_ROWS = [
    ("# col_name            ", "data_type           ", "comment             "),
    ("", None, None),
    ("id", "string", ""),
    ("n", "int", ""),
    ("", None, None),
    ("# Partition Information", None, None),
    ("# col_name            ", "data_type           ", "comment             "),
    ("", None, None),
    ("part", "string", ""),
    ("", None, None),
    ("# Detailed Table Information", None, None),
    ("Location:           ", "hdfs://n:8020/lake/t", None),
    ("Table Type:         ", "EXTERNAL_TABLE      ", None),
    ("Table Parameters:", None, None),
    ("", "EXTERNAL            ", "TRUE                "),
    ("", None, None),
    ("# Storage Information", None, None),
    ("SerDe Library:      ", "Serde", None),
    ("InputFormat:        ", "In", None),
    ("OutputFormat:       ", "Out", None),
    ("Storage Desc Params:", None, None),
    ("", "path                ", "/lake/t            "),
]
SPARK_ROWS = [
    ("id", "string", None),
    ("n", "int", None),
    ("part", "string", None),
    ("# Partition Information", "", ""),
    ("# col_name", "data_type", "comment"),
    ("part", "string", None),
    ("", "", ""),
    ("# Detailed Table Information", "", ""),
    ("Database", "lake", ""),
    ("Type", "EXTERNAL", ""),
    ("Location", "hdfs://n:8020/lake/t", ""),
    ("Serde Library", "Serde", ""),
    ("InputFormat", "In", ""),
    ("OutputFormat", "Out", ""),
    ("Storage Properties", "[path=/lake/t, serialization.format=1]", ""),
]


@pytest.mark.parametrize("rows", [HIVE_ROWS, SPARK_ROWS])
def test_descriptions(rows):
    found = parse_table("lake", "trips", rows, {"k": "v"})
    assert found.columns == TABLE.columns
    assert found.partition_columns == TABLE.partition_columns
    assert (found.location, found.input_format, found.output_format, found.serde, found.managed) == (
        "hdfs://n:8020/lake/t",
        "In",
        "Out",
        "Serde",
        False,
    )
    assert found.serde_properties["path"] == "/lake/t"
    assert found.properties == {"k": "v"}
    assert parse_location(rows) == "hdfs://n:8020/lake/t"


def test_partition_names():
    assert parse_partition_name("part=a%3Ab/kind=c=d") == ("a:b", "c=d")
    assert parse_partition_name("a/b") == ("a", "b")
