"""Airflow with a home folder of its own, set before anything imports it: it makes files in that folder."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry
from hudi_services.runtime.spark import java

PROJECT = Path(__file__).resolve().parents[3]

os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="airflow-unit-")
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(PROJECT / "plugins")
os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] = f"sqlite:///{os.environ['AIRFLOW_HOME']}/airflow.db"

REGISTRY = """\
pools: {hudi: 2}
defaults: {pool: hudi, engine: spark}
tables:
  - name: flights
    base_path: /lake/flights
    keys: {record_key: [carrier, flight], partition_by: month}
    source: {path: /land, format: csv, date_pattern: dt=%Y-%m-%d}
    ingest: {schedule: 0 6 * * *, start: 2013-01-01, end: 2013-12-31, spark: {spark.driver.memory: 2g}}
    clean: {schedule: 30 2 * * *, after_ingests: 3, hoodie: {hoodie.clean.commits.retained: 3}}
    retries: 4
    tags: [demo]
  - name: events
    base_path: /lake/events
    keys: {record_key: id}
    source: {path: /land/events, format: json}
  - name: trips
    base_path: /lake/trips
    type: MERGE_ON_READ
    keys: {record_key: id}
    source: {path: /land/trips, format: parquet}
    compact: {after_ingests: 1, max_plans: 3, hoodie: {hoodie.compact.inline.max.delta.commits: 2}}
    sync: {hoodie: {hoodie.datasource.hive_sync.mode: hms}}
  - name: old
    base_path: /lake/old
    keys: {record_key: id, partition_by: day, ordering: ts}
    source: {path: /land/old, format: parquet}
    bootstrap: {source_path: /plain/old, mode_regex: day=2.*, spark: {spark.driver.memory: 3g}}
  - name: others
    base_path: /lake/others
    clean: {schedule: 0 0 * * 0}
    sync:
      schedule: 0 5 * * *
      hoodie:
        hoodie.datasource.hive_sync.password: ${HIVE_PASSWORD}
        hoodie.datasource.hive_sync.jdbcurl: jdbc:hive2://hive:10000/;user=etl;password=${HIVE_PASSWORD}
"""


@pytest.fixture(scope="session", autouse=True)
def one_java() -> Iterator[None]:
    """Each submit asks the Java of the machine for its version, which takes a fifth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(java, "_probe", cache(java._probe))
        yield


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registry file that the environment names."""
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY)
    monkeypatch.setenv("HUDI_REGISTRY", str(file))
    monkeypatch.setenv("HIVE_PASSWORD", "geheim")
    return file


@pytest.fixture
def tables(registry: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Table]:
    """Its tables by name, and a Spark connection."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    return {table.name: table for table in load_registry(registry).tables}
