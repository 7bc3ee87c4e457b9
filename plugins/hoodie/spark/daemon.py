"""`spark.python.daemon.module`: PySpark's daemon, from which Spark forks its Python workers, with the library in memory.

Without it each worker imports the library after its fork, which takes a second of a core. Spark starts new workers more often
than it seems: it ends those that were idle for a minute, and those whose task ended early, as of `limit`, or with an error.

An executor whose Python does not find the library before a task brings it (`addPyFile`) cannot start this module. So it is set
only where the session knows that it can: see `hudi_services.runtime.spark.session`.
"""

from __future__ import annotations

import gc

import pyarrow as pa
from pyspark.daemon import manager

import hoodie.spark  # noqa: F401

pa.array([1])  # Arrow's first conversion imports pandas

if __name__ == "__main__":
    gc.freeze()  # else each worker's first collection copies the pages of all modules
    manager()
