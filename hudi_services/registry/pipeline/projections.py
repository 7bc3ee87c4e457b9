"""The projection and the filter of a transform: columns, expressions of added columns, and the condition of a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from hudi_services.registry.pipeline.expressions import (
    FlinkCdc,
    column_text,
    condition_text,
    plain_text,
    value_text,
)

_STAR = re.compile(r"(?:(?<=,)|^)(\s*)\\\*(?=\s*(?:,|$))")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Projection:
    """The only `columns` of a table (none: all), and expressions by the names of the columns that they add."""

    columns: tuple[str, ...] = ()
    added: Mapping[str, str] = field(default_factory=dict)


EVERYTHING = Projection()
"""The projection `*`."""


def read_projection(text: str, *, in_utc: bool) -> Projection:
    """Return the projection of a text. Times are formatted only `in_utc`. Raises ValueError for a part that is not there."""
    listed = _STAR.sub(r"\1*", text)
    select = _parsed(f"SELECT {listed}", None)
    if rest := sorted(key for key, value in select.args.items() if value and key != "expressions"):
        raise ValueError(f"is no list of columns and expressions: it has {rest[0].strip('_').upper()}")
    columns: list[str] = []
    added: dict[str, str] = {}
    has_star = False
    for item in select.expressions:
        if isinstance(item, exp.Star) and not any(item.args.values()):
            has_star = True
        elif isinstance(item, exp.Column):
            column_text(item)
            columns.append(item.name)
        elif isinstance(item, exp.Alias):
            if not _NAME.fullmatch(item.alias):
                raise ValueError(f"names a column {item.alias!r:.80}: names are of letters, digits and `_`")
            _refuse_twin(item.alias, added)
            added[item.alias] = value_text(item.this, in_utc=in_utc)
        else:
            text = item.sql(dialect=FlinkCdc, comments=False)
            raise ValueError(f"has {text!r:.120} without a name: write {text:.80} AS and a name")
    for column in columns:
        _refuse_twin(column, added)
    if not has_star and not columns:
        raise ValueError("has no column of the table: the key has to be there")
    return Projection(() if has_star else tuple(dict.fromkeys(columns)), added)


def read_filter(text: str, projection: Projection) -> str:
    """Return the condition of a rule for a filter. Raises ValueError for a part that is not there."""
    condition = _parsed(text, exp.Condition)
    named = list(condition.find_all(exp.Column))
    computed = {name.lower() for name in projection.added}
    for column in named:
        if column.name.lower() in computed:
            raise ValueError(f"names the computed column {column.name}: write the condition with columns of the table")
    if projection.columns:
        _refuse_hidden(named, projection.columns)
    return condition_text(condition, plain_text)


def _parsed(text: str, kind: type[Any] | None) -> Any:
    try:
        trees = FlinkCdc().parse_into(kind, text) if kind is not None else FlinkCdc().parse(text)
    except (SqlglotError, AttributeError, TypeError, ValueError, LookupError) as error:
        raise ValueError(f"cannot be read: {_place(error)}") from None
    if len(trees) != 1 or not isinstance(trees[0], kind or exp.Select):
        raise ValueError("cannot be read: it is not one expression of SQL")
    return trees[0]


def _place(error: Exception) -> str:
    for problem in getattr(error, "errors", ()):
        if problem.get("highlight"):
            return f"{problem['highlight']!r:.80} is not expected"
    return "its words are not SQL"


def _refuse_twin(name: str, added: Iterable[str]) -> None:
    if name.lower() in map(str.lower, added):
        raise ValueError(f"makes the column {name} twice: give the computed one another name")


def _refuse_hidden(named: Iterable[Any], columns: Iterable[str]) -> None:
    """Raise ValueError where an expression names a column that the projection leaves out: its value could change unseen."""
    known = {name.lower() for name in columns}
    for column in named:
        if column.name.lower() not in known:
            raise ValueError(f"names {column.name}, which the projection leaves out: project {column.name}, too")
