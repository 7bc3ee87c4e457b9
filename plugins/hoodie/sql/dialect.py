"""Spark's SQL as sqlglot reads it, without what sqlglot changes of it."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.spark import Spark

_JSON_PATH = re.compile(r"\$(\.[^.\[*'\"\s]+|\[[0-9]+\]|\['[^'?*\[\]]+'\])*")
"""Paths that sqlglot, DuckDB and Spark read in one way."""


def _json_value(args: list[exp.Expression], dialect: Dialect) -> exp.Expression:
    """A call of `get_json_object` as sqlglot reads it, or as it is written if Spark may not know its path: sqlglot takes `a` for
    `$.a`, and Spark gives null."""
    path = args[1] if len(args) == 2 else None
    if isinstance(path, exp.Literal) and path.is_string and _JSON_PATH.fullmatch(path.name):
        return exp.JSONExtractScalar(this=args[0], expression=dialect.to_json_path(path))
    return exp.Anonymous(this="get_json_object", expressions=args)


class SparkText(Spark):  # type: ignore[misc]
    """Spark's SQL, in which a call that sqlglot would change stays as it is written."""

    class Parser(Spark.Parser):  # type: ignore[misc]
        """Functions that sqlglot reads in another way than Spark."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {**Spark.Parser.FUNCTIONS, "GET_JSON_OBJECT": _json_value}
