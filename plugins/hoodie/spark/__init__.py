"""The library on Spark."""

from hoodie.spark.engine import SparkEngine
from hoodie.spark.io import read, session_options, write

__all__ = ["SparkEngine", "read", "session_options", "write"]
