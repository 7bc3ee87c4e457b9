"""Pipelines in files of their own, and the plans of their rules."""

from __future__ import annotations

import pytest

from hudi_services.registry.pipeline.read import read_pipeline
from hudi_services.sources.cdc.mysql.catalog import CatalogTable
from hudi_services.sources.databases.plan import plan

SOURCE = """
source:
  type: mysql
  name: MySQL Source
  hostname: 127.0.0.1
  port: 3306
  username: admin
  password: pa55
  tables: {tables}
  server-id: 5401-5404
sink:
  type: hudi
  name: Hudi Sink
  path: /lake/
pipeline:
  name: MySQL to Hudi Pipeline
  parallelism: 4
"""


@pytest.fixture
def read(tmp_path):
    """Read a pipeline for the server `shop`."""

    def read(text, environ=None, *, with_address=True):
        file = tmp_path / "pipeline.yaml"
        file.write_text(text)
        return read_pipeline(file, "shop", environ or {}, with_address=with_address)

    return read


@pytest.fixture
def pipeline():
    """The pipeline of Flink CDC's documentation of MySQL, with Hudi as the sink, and other `tables`."""
    return lambda tables: SOURCE.replace("{tables}", tables)


@pytest.fixture
def paths():
    """Base paths of tables, or the kind of their refusal, and the plan."""

    def paths(reading, *names):
        assert reading.mistakes == ()
        tables = [CatalogTable(*name.split("."), key=("id",)) for name in names]
        result = plan(reading.rules, tables, {}, {})
        return {**result.paths, **{one.source: one.kind for one in result.refusals}}, result

    return paths
