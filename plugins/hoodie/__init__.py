"""A table-format library for Apache Hudi in Python: real Hudi tables, written, read and serviced on Arrow columns."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hoodie import errors
from hoodie.errors import HoodieError

if TYPE_CHECKING:
    from hoodie import spark
    from hoodie.services.archive.service import ARCHIVE
    from hoodie.services.clean.service import CLEAN
    from hoodie.services.clustering.service import CLUSTERING
    from hoodie.services.clustering.unschedule import GiveUpClustering
    from hoodie.services.compaction.service import COMPACTION
    from hoodie.services.compaction.unschedule import UnscheduleCompaction
    from hoodie.services.log_compaction.service import LOG_COMPACTION
    from hoodie.services.purge.service import Purge
    from hoodie.services.restore.service import Restore
    from hoodie.services.rollback.service import Rollback
    from hoodie.services.sync import SYNC
    from hoodie.services.ttl.service import TTL
    from hoodie.services.undelete.service import Undelete
    from hoodie.services.upgrade.service import Upgrade
    from hoodie.table import HoodieTable
    from hoodie.write.execute import WriteHooks, WriteResult

__version__ = "0.1.0"
__all__ = [
    "ARCHIVE",
    "CLEAN",
    "CLUSTERING",
    "COMPACTION",
    "LOG_COMPACTION",
    "SYNC",
    "TTL",
    "GiveUpClustering",
    "HoodieError",
    "HoodieTable",
    "Purge",
    "Restore",
    "Rollback",
    "Undelete",
    "UnscheduleCompaction",
    "Upgrade",
    "WriteHooks",
    "WriteResult",
    "__version__",
    "errors",
    "spark",
]

# Arrow takes a third of a second to load. Airflow parses DAG files all the time and wants only errors and option names.
_LATER = {
    "ARCHIVE": "hoodie.services.archive.service",
    "CLEAN": "hoodie.services.clean.service",
    "CLUSTERING": "hoodie.services.clustering.service",
    "COMPACTION": "hoodie.services.compaction.service",
    "GiveUpClustering": "hoodie.services.clustering.unschedule",
    "HoodieTable": "hoodie.table",
    "LOG_COMPACTION": "hoodie.services.log_compaction.service",
    "Purge": "hoodie.services.purge.service",
    "Restore": "hoodie.services.restore.service",
    "Rollback": "hoodie.services.rollback.service",
    "SYNC": "hoodie.services.sync",
    "TTL": "hoodie.services.ttl.service",
    "Undelete": "hoodie.services.undelete.service",
    "UnscheduleCompaction": "hoodie.services.compaction.unschedule",
    "Upgrade": "hoodie.services.upgrade.service",
    "WriteHooks": "hoodie.write.execute",
    "WriteResult": "hoodie.write.execute",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if name == "spark":  # `import hoodie` is enough to say `hoodie.spark.read`; PySpark loads then
        return importlib.import_module("hoodie.spark")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
