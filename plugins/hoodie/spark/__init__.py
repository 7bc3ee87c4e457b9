"""The library on Spark."""

from hoodie.spark.engine import SparkEngine
from hoodie.spark.incremental import read_incremental
from hoodie.spark.io import explain, read, session_options, write

__all__ = ["SparkEngine", "explain", "read", "read_incremental", "session_options", "write"]
