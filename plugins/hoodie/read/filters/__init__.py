"""Filters of a read: an expression of `pyarrow.compute`, or a condition as text."""

from hoodie.read.filters.filter import Filter, as_expression

__all__ = ["Filter", "as_expression"]
