"""The library on Spark."""

from hoodie.spark.changes import read_changes
from hoodie.spark.engine import SparkEngine
from hoodie.spark.io import explain, query, read, read_incremental, session_options, write
from hoodie.spark.source import register
from hoodie.spark.stream.sink import stream_sink

__all__ = [
    "SparkEngine",
    "explain",
    "query",
    "read",
    "read_changes",
    "read_incremental",
    "register",
    "session_options",
    "stream_sink",
    "write",
]
