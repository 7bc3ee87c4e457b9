"""Ingestion of files into a table, exactly once."""

from hudi_services.ingest.plan import Window
from hudi_services.ingest.prepare import Prepared, prepare
from hudi_services.ingest.request import IngestRequest
from hudi_services.ingest.run import run_ingest

__all__ = ["IngestRequest", "Prepared", "Window", "prepare", "run_ingest"]
