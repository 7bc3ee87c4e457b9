"""The events of runs for Airflow's provider of OpenLineage."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.openlineage.extractors.base import DefaultExtractor
from airflow.sdk import DAG
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.serde import Serde
from openlineage.client.uuid import generate_new_uuid

from hoodie import HoodieTable
from hoodie_airflow.factory import service_dags
from hoodie_airflow.lineage import lineage, named
from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry
from hudi_services.runtime.result import ServiceResult
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def table(tmp_path: Path) -> HoodieTable:
    made = create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    made.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    return made


@pytest.fixture
def entry(tmp_path: Path, table: HoodieTable) -> Table:
    file = tmp_path / "tables.yaml"
    keys = {"record_key": "id", "partition_by": "part", "ordering": "ts"}
    source = {"path": "s3://land/orders/", "format": "parquet"}
    fields = {"name": "orders", "base_path": table.base_path, "type": "MERGE_ON_READ", "keys": keys, "source": source}
    file.write_text(json.dumps({"tables": [fields]}))
    (found,) = load_registry(file).tables
    return found


def event(found: Any) -> dict[str, Any]:
    """As it goes over the wire, checked by the client's own classes."""
    told = RunEvent(
        eventTime=datetime.now(UTC).isoformat(),
        run=Run(runId=str(generate_new_uuid())),
        job=Job(namespace="airflow", name="job"),
        eventType=RunState.COMPLETE,
        inputs=found.inputs,
        outputs=found.outputs,
        producer="https://example.com",
    )
    parsed: dict[str, Any] = json.loads(Serde.to_json(told))
    return parsed


@pytest.mark.parametrize(
    ("path", "namespace", "name"),
    [
        ("/lake/orders/", "file", "/lake/orders"),
        ("file:///lake/orders", "file", "/lake/orders"),
        ("s3://lake/db/orders", "s3://lake", "db/orders"),
        ("s3a://lake/db/orders/", "s3://lake", "db/orders"),
        ("gs://lake", "gs://lake", "/"),
        ("/lake/a#b", "file", "/lake/a#b"),
        ("s3://b/orders?x=1#1", "s3://b", "orders?x=1#1"),
        ("s3://key:secret@b/orders", "s3://b", "orders"),
        ("abfss://c@account.dfs.core.windows.net/x", "abfss://c@account.dfs.core.windows.net", "x"),
    ],
)
def test_datasets_have_the_names_of_files(path: str, namespace: str, name: str) -> None:
    assert named(path) == (namespace, name)


def test_a_commit_tells_instant_columns_and_amounts(table: HoodieTable, entry: Table) -> None:
    result = ServiceResult("ingest", "m", "20260101000000000", rows_written=5, bytes_written=100, files_written=2)
    told = event(lineage(entry, "ingest", result))
    (read,), (wrote,) = told["inputs"], told["outputs"]
    assert (read["namespace"], read["name"]) == ("s3://land", "orders")
    assert (wrote["namespace"], wrote["name"]) == ("file", table.base_path)
    facets = wrote["facets"]
    assert facets["version"]["datasetVersion"] == "20260101000000000"
    assert [(each["name"], each["type"]) for each in facets["schema"]["fields"]] == [
        ("id", "string"),
        ("part", "string"),
        ("ts", "int64"),
        ("value", "int64"),
    ]
    assert (facets["datasource"]["name"], facets["storage"]["storageLayer"]) == ("hudi", "hudi")
    amounts = wrote["outputFacets"]["outputStatistics"]
    assert (amounts["rowCount"], amounts["size"], amounts["fileCount"]) == (5, 100, 2)


def test_a_service_reads_and_writes_the_table_and_a_sync_only_reads(table: HoodieTable, entry: Table) -> None:
    own = ("file", table.base_path)
    nothing = lineage(entry, "clean", ServiceResult("clean", "nothing"))
    assert [(each.namespace, each.name) for each in (*nothing.inputs, *nothing.outputs)] == [own, own]
    assert not nothing.outputs[0].facets
    synced = lineage(entry, "sync", ServiceResult("sync", "m", "1"))
    assert ([(each.namespace, each.name) for each in synced.inputs], synced.outputs) == ([own], [])


def test_a_table_that_cannot_be_read_has_no_columns(tmp_path: Path, entry: Table) -> None:
    gone = entry.model_copy(update={"base_path": str(tmp_path / "gone")})
    (wrote,) = lineage(gone, "clean", ServiceResult("clean", "m", "1")).outputs
    assert set(wrote.facets or ()) == {"version", "datasource", "storage"}


@pytest.mark.parametrize("service", ["compact", "ingest", "clean"])
def test_the_provider_finds_it_on_the_tasks(tmp_path: Path, entry: Table, service: str) -> None:
    (dag,) = service_dags(service, tmp_path / "tables.yaml")
    assert isinstance(dag, DAG)
    task: Any = next(each for each in dag.tasks if hasattr(each, "entry"))
    extractor = DefaultExtractor(task)
    begun = extractor.extract()
    assert begun is not None
    assert [each.name for each in begun.outputs] == [entry.base_path]
    task._result = ServiceResult(service, "m", "20260101000000000")
    ended = extractor.extract_on_complete(SimpleNamespace())
    assert ended is not None
    assert ended.outputs[0].facets["version"].datasetVersion == "20260101000000000"


def test_a_stream_reads_the_table_that_it_follows(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    copy = {"name": "copy", "base_path": "s3://lake/copy", "keys": {"record_key": "id"}, "stream": {"table": "orders"}}
    file.write_text(json.dumps({"tables": [{"name": "orders", "base_path": "s3://lake/orders"}, copy]}))
    found = lineage(load_registry(file).tables[1], "stream")
    assert [(each.namespace, each.name) for each in found.inputs] == [("s3://lake", "orders")]
    assert [(each.namespace, each.name) for each in found.outputs] == [("s3://lake", "copy")]
