"""Spark's SQL as sqlglot reads it, without what sqlglot changes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, groupconcat_sql
from sqlglot.dialects.spark import Spark
from sqlglot.generator import Generator

from hoodie.read.filters.ranges import StrictBounds

_JSON_PATH = re.compile(r"\$(\.[^.\[*'\"\s]+|\[[0-9]+\]|\['[^'?*\[\]]+'\])*")
"""Paths that sqlglot, DuckDB and Spark read in one way."""
_PATTERN = "pattern"
_WITH_PATTERN = ("DATE_FORMAT", "FROM_UNIXTIME", "TO_DATE", "TO_TIMESTAMP", "UNIX_TIMESTAMP")
_PATTERNED = (exp.StrToTime, exp.StrToUnix, exp.TimeToStr, exp.TsOrDsToDate, exp.UnixToStr)


def _json_value(args: list[exp.Expression], dialect: Dialect) -> exp.Expression:
    """A call of `get_json_object` as sqlglot reads it, or as it is written if Spark may not know its path: sqlglot takes `a` for
    `$.a`, and Spark gives null."""
    path = args[1] if len(args) == 2 else None
    if isinstance(path, exp.Literal) and path.is_string and _JSON_PATH.fullmatch(path.name):
        return exp.JSONExtractScalar(this=args[0], expression=dialect.to_json_path(path))
    return exp.Anonymous(this="get_json_object", expressions=args)


def _keep_pattern(name: str) -> Callable[..., exp.Expression]:
    """Read a function with a pattern of times as sqlglot does, and keep the pattern as it is written: sqlglot writes `y` as
    `yyyy`, and leaves out what a cast reads, too."""
    build = Spark.Parser.FUNCTIONS[name]

    def read(args: list[exp.Expression], dialect: Dialect) -> exp.Expression:
        pattern = args[1] if len(args) == 2 else None
        written = pattern.name if isinstance(pattern, exp.Literal) and pattern.is_string else None
        node: exp.Expression = build(args, dialect)
        if written is not None:
            node.meta[_PATTERN] = (name.lower(), written)
        return node

    return read


def _as_written(name: str) -> Callable[..., exp.Expression]:
    return lambda args, dialect: exp.Anonymous(this=name, expressions=args)


def _patterned(kind: type[exp.Expression]) -> Callable[[Generator, exp.Expression], str]:
    write = Spark.Generator.TRANSFORMS.get(kind, Spark.Generator.timetostr_sql)

    def text(generator: Generator, node: exp.Expression) -> str:
        if _PATTERN not in node.meta:
            return str(write(generator, node))
        name, pattern = node.meta[_PATTERN]
        value = node.this.this if isinstance(node.this, exp.TimeStrToTime) else node.this
        return str(generator.func(name, value, exp.Literal.string(pattern)))

    return text


class SparkText(Spark):  # type: ignore[misc]
    """Spark's SQL, in which a call that sqlglot would change stays as it is written. Spark runs what this dialect writes."""

    class Parser(StrictBounds, Spark.Parser):  # type: ignore[misc]
        """Functions that sqlglot reads in another way than Spark, or of which it leaves a part out."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {
            **Spark.Parser.FUNCTIONS,
            **{name: _keep_pattern(name) for name in _WITH_PATTERN},
            **{name.upper(): _as_written(name) for name in ("parse_json", "to_char")},
            "GET_JSON_OBJECT": _json_value,
        }

    class Generator(Spark.Generator):  # type: ignore[misc]
        """Functions that sqlglot writes in another way than they were read."""

        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **{kind: write for kind, write in Spark.Generator.TRANSFORMS.items() if kind is not exp.WithinGroup},
            **{kind: _patterned(kind) for kind in _PATTERNED},
            exp.ArgMax: lambda self, node: self.func("max_by", node.this, node.expression, node.args.get("count")),
            exp.ArgMin: lambda self, node: self.func("min_by", node.this, node.expression, node.args.get("count")),
            exp.CurrentCatalog: lambda self, node: self.func("current_catalog"),
            exp.Localtimestamp: lambda self, node: self.func("localtimestamp"),
            exp.GroupConcat: lambda self, node: groupconcat_sql(self, node, sep=""),
        }
        TYPE_MAPPING: ClassVar[dict[Any, Any]] = {**Spark.Generator.TYPE_MAPPING, exp.DType.TIME: "TIME"}
