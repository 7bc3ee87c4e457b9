"""Lineage for OpenLineage: the reads and writes of a run. Airflow's provider, where it is installed, asks the operators
for it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hudi_services.entry.table import Table
from hudi_services.runtime.result import ServiceResult

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

_log = logging.getLogger(__name__)

_COLUMNS = 2000  # columns of a schema, at most
_TELLS_CATALOGS = "sync"  # it writes to a catalog, and not to the table


def lineage(table: Table, service: str, result: ServiceResult | None = None) -> OperatorLineage:
    """The datasets of a run, by OpenLineage's names for files.

    An ingestion or a stream reads its source and writes the table, a service reads and writes the table, a sync reads it. With
    the result of a run that made an instant its output has the facets `version` (the instant), `schema`, `datasource`, `storage`
    and `outputStatistics`.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset

    own = named(table.base_path)
    reads_source = service in ("ingest", "bootstrap", "stream")
    source = _source(table, service)
    inputs = [InputDataset(*named(source))] if source is not None else []
    inputs += [InputDataset(*own)] if not reads_source else []
    if service == _TELLS_CATALOGS:
        return OperatorLineage(inputs=inputs)
    if result is None or result.instant is None:
        return OperatorLineage(inputs=inputs, outputs=[OutputDataset(*own)])
    output = OutputDataset(*own, facets=_facets(table, result.instant), outputFacets=_statistics(result))
    return OperatorLineage(inputs=inputs, outputs=[output])


def named(path: str) -> tuple[str, str]:
    """Namespace and name of a path or URL: `s3://bucket` and the key, `file` and a path of this machine."""
    scheme, mark, location = path.partition("://")
    if not mark:
        return "file", path.rstrip("/") or "/"
    place, _, key = location.partition("/")
    if scheme == "file":
        return "file", f"/{key}".rstrip("/") or "/"
    user, _, host = place.rpartition("@")
    if ":" in user:  # a password; without one it is a container of Azure's
        place = host
    return f"{'s3' if scheme == 's3a' else scheme}://{place}", key.strip("/") or "/"


def _source(table: Table, service: str) -> str | None:
    if service == "bootstrap":
        result: str | None = getattr(table.section("bootstrap"), "source_path", None)
        return result
    if service == "stream" and (followed := getattr(table.section("stream"), "path", None)) is not None:
        return str(followed)
    return table.source.address if service in ("ingest", "stream") and table.source is not None else None


def _facets(table: Table, instant: str) -> dict[str, Any]:
    from openlineage.client.facet_v2 import (
        dataset_version_dataset,
        datasource_dataset,
        schema_dataset,
        storage_dataset,
    )

    result: dict[str, Any] = {
        "version": dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=instant),
        "datasource": datasource_dataset.DatasourceDatasetFacet(name="hudi", uri=table.base_path),
        "storage": storage_dataset.StorageDatasetFacet(storageLayer="hudi", fileFormat="parquet"),
    }
    columns = _columns(table)
    if columns:
        fields = [schema_dataset.SchemaDatasetFacetFields(name=name, type=kind) for name, kind in columns]
        result["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields)
    return result


def _columns(table: Table) -> list[tuple[str, str]]:
    """The columns of the table as it is now; none where it cannot be read from here, which costs no run."""
    # Imported here: DAG files are parsed often, and Arrow takes a while to load.
    from hoodie import HoodieTable
    from hoodie.errors import HoodieError

    try:
        schema = HoodieTable.open(table.base_path).schema
    except (HoodieError, OSError, ImportError, ValueError) as error:
        _log.info("OpenLineage gets no columns of table %s: %s", table.name, error)
        return []
    return [(field.name, str(field.type)) for field in list(schema)[:_COLUMNS]]


def _statistics(result: ServiceResult) -> dict[str, Any]:
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

    return {
        "outputStatistics": statistics.OutputStatisticsOutputDatasetFacet(
            rowCount=result.rows_written, size=result.bytes_written, fileCount=result.files_written
        )
    }
