"""A sync with AWS Glue: tables, partitions, columns and properties as Hudi's own tool writes them, on moto's Glue."""

from __future__ import annotations

import sys

import boto3
import pyarrow as pa
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from hoodie.config.key import resolve
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.errors import CatalogError, ConfigError
from hoodie.sync import glue as module
from hoodie.sync.connect import open_catalog
from hoodie.sync.glue import GlueCatalog
from hoodie.sync.model import AddPartitions, CatalogPartition, CreateDatabase
from hoodie.sync.run import explain_sync, run_sync
from tests.support.tables import batch, create

PREFIX = "hoodie.datasource.hive_sync."
OPTIONS = {
    PREFIX + "mode": "glue",
    PREFIX + "database": "lake",
    "hoodie.datasource.meta.sync.base.path": "s3a://lake/trips",
}


@pytest.fixture
def client(monkeypatch):
    for name, value in {
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": "tester",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield boto3.client("glue")


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "x", 1, 1), ("b", "y", 1, 1)]))
    return table


def entry(client, name="trips"):
    return client.get_table(DatabaseName="lake", Name=name)["Table"]


def values(client):
    return sorted(
        part["Values"][0] for part in client.get_partitions(DatabaseName="lake", TableName="trips")["Partitions"]
    )


def test_first_sync_then_nothing_then_what_is_new(table, client):
    plan = run_sync(table.state(), OPTIONS)
    assert len(plan.actions) == 4
    made = entry(client)
    storage, parameters = made["StorageDescriptor"], made["Parameters"]
    assert storage["Location"] == "s3://lake/trips"
    assert storage["InputFormat"] == "org.apache.hudi.hadoop.HoodieParquetInputFormat"
    assert storage["SerdeInfo"]["Parameters"]["serialization.format"] == "1"
    assert made["TableType"] == "EXTERNAL_TABLE"
    assert [column["Name"] for column in made["PartitionKeys"]] == ["part"]
    assert parameters["EXTERNAL"] == "TRUE"
    assert parameters["hudi.metadata-listing-enabled"] == "FALSE"
    assert parameters["spark.sql.sources.provider"] == "hudi"
    assert parameters["last_commit_time_sync"] == table.timeline.last_commit.time
    (part, _) = client.get_partitions(DatabaseName="lake", TableName="trips")["Partitions"]
    assert part["StorageDescriptor"]["Location"].startswith("s3://lake/trips/part=")
    assert explain_sync(table.state(), OPTIONS).actions == ()
    table.write(batch([("c", "z", 2, 2)]))
    table.delete_partitions(["part=x"])
    run_sync(table.state(), OPTIONS)
    assert values(client) == ["y", "z"]


def test_columns_of_table_and_partitions_follow(table, client):
    run_sync(table.state(), OPTIONS)
    rows = batch([("d", "y", 2, 2)])
    table.write(rows.append_column("extra", pa.array([1.5])))
    run_sync(table.state(), OPTIONS)
    for storage in (
        entry(client)["StorageDescriptor"],
        client.get_partitions(DatabaseName="lake", TableName="trips")["Partitions"][0]["StorageDescriptor"],
    ):
        assert storage["Columns"][-1]["Name"] == "extra"
        assert storage["Columns"][-1]["Type"] == "double"


def test_merge_on_read_and_listing_by_metadata(tmp_path, client):
    table = create(tmp_path / "mor", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "x", 1, 1)]))
    more = {"hoodie.datasource.meta.sync.glue.metadata_file_listing": True, PREFIX + "serde_properties": "a=b"}
    run_sync(table.state(), OPTIONS)
    run_sync(table.state(), {**OPTIONS, **more, PREFIX + "table_properties": "owner=me"})
    assert "HoodieParquetRealtimeInputFormat" in entry(client, "trips_rt")["StorageDescriptor"]["InputFormat"]
    read = entry(client, "trips_ro")
    assert read["Parameters"]["hudi.metadata-listing-enabled"] == "TRUE"
    assert read["Parameters"]["owner"] == "me"
    assert read["StorageDescriptor"]["SerdeInfo"]["Parameters"]["a"] == "b"


def test_partitions_come_back_and_move(table, client):
    run_sync(table.state(), OPTIONS)
    with open_catalog(resolve(OPTIONS, SYNC_KEYS)) as catalog:
        known = catalog.table("lake", "trips")
        catalog.apply(CreateDatabase("lake"))
        catalog.apply(AddPartitions(known, (CatalogPartition(("x",), "s3://lake/trips/part=x"),)))
        assert catalog.partitions(known, [("x",), ("none",)]) == [CatalogPartition(("x",), "s3://lake/trips/part=x")]
        assert catalog.table("lake", "none") is None
    moved = {**OPTIONS, "hoodie.meta.sync.incremental": False}
    client.update_partition(
        DatabaseName="lake",
        TableName="trips",
        PartitionValueList=["x"],
        PartitionInput={"Values": ["x"], "StorageDescriptor": {"Location": "s3://old/x"}},
    )
    run_sync(table.state(), moved)
    parts = client.get_partitions(DatabaseName="lake", TableName="trips")["Partitions"]
    assert {part["StorageDescriptor"]["Location"] for part in parts} == {f"s3://lake/trips/part={p}" for p in "xy"}


class Refusing:
    """A client that refuses partitions, or everything."""

    def __init__(self, client, *, everything=False):
        self._client, self._everything = client, everything

    def __getattr__(self, name):
        if name == "batch_create_partition":
            detail = {"ErrorCode": "ResourceNumberLimitExceededException", "ErrorMessage": "too many"}
            return lambda **_: {"Errors": [{"PartitionValues": ["x"], "ErrorDetail": detail}]}
        if self._everything and name == "get_table":

            def refused(**_):
                raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, name)

            return refused
        return getattr(self._client, name)


def test_what_glue_refuses(table, client):
    options = resolve(OPTIONS, SYNC_KEYS)
    with pytest.raises(CatalogError) as failed:
        run_sync(table.state(), OPTIONS, lambda _: GlueCatalog(Refusing(client), options))
    assert "refused partition x of lake.trips" in str(failed.value)
    with pytest.raises(CatalogError) as failed:
        run_sync(table.state(), OPTIONS, lambda _: GlueCatalog(Refusing(client, everything=True), options))
    assert "AccessDenied" in str(failed.value)
    assert "glue:GetTable" in str(failed.value)


def test_no_region_and_no_package(table, client, monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(CatalogError) as failed:
        run_sync(table.state(), OPTIONS)
    assert "AWS_DEFAULT_REGION" in str(failed.value)
    monkeypatch.setitem(sys.modules, module.__name__, None)
    with pytest.raises(ConfigError) as failed:
        run_sync(table.state(), OPTIONS)
    assert "hudi-table-services[glue]" in str(failed.value)
