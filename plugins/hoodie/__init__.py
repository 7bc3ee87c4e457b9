"""A table-format library for Apache Hudi in Python: real Hudi tables, written, read and serviced on Arrow columns."""

from hoodie.errors import HoodieError
from hoodie.table import HoodieTable

__all__ = ["HoodieError", "HoodieTable"]
