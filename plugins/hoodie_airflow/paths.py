"""Paths of this project's parts on the machine of the scheduler and its workers."""

from __future__ import annotations

import os
from pathlib import Path

from hudi_services.runtime.folders import PROJECT, SPARK_APPS

PLUGINS = Path(__file__).resolve().parents[1]
REGISTRY_VARIABLE = "HUDI_REGISTRY"

__all__ = ["PLUGINS", "PROJECT", "SPARK_APPS", "registry_file"]


def registry_file() -> Path:
    """The file of the environment variable HUDI_REGISTRY. The default is tables.yaml of this checkout or, without a
    checkout, tables.yaml in Airflow's home."""
    if named := os.environ.get(REGISTRY_VARIABLE):
        return Path(named)
    checkout = PROJECT / "tables.yaml"
    if checkout.is_file():
        return checkout
    return Path(os.environ.get("AIRFLOW_HOME", "~/airflow")).expanduser() / "tables.yaml"
