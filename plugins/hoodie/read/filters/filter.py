"""Filters that a caller may give."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ArgumentError

Filter = pc.Expression | str
"""An expression of `pyarrow.compute`, or a condition as text (see `hoodie.read.filters.text`)."""


def as_expression(condition: object, columns: pa.Schema) -> pc.Expression | None:
    """The filter as an expression on these columns; None stays None. Raises ArgumentError for what is neither form."""
    if condition is None or isinstance(condition, pc.Expression):
        return condition
    if isinstance(condition, str):
        # The parser takes a third of a second to load.
        from hoodie.read.filters.text import parse_filter

        return parse_filter(condition, columns)
    raise ArgumentError(
        "A filter is neither an expression nor text",
        found=f"{condition!r:.200} ({type(condition).__name__})",
        fix="give an expression, such as pyarrow.compute.field('city') == 'berlin', or text, such as \"city = 'berlin'\"",
    )
