"""Where this project's parts are on the machine of the scheduler and its workers."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PLUGINS = PROJECT / "plugins"
SPARK_APPS = PROJECT / "spark_apps"
# Docker mounts plugins/ elsewhere: then this says where the rest of the project is.
REGISTRY_VARIABLE = "HUDI_REGISTRY"


def registry_file() -> Path:
    """The file of the environment variable HUDI_REGISTRY, else tables.yaml of this project."""
    return Path(os.environ.get(REGISTRY_VARIABLE) or PROJECT / "tables.yaml")
