"""Expectations of the data of a feed: `expect` of a source. Each load is checked by them before anything is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from hudi_services.entry.feed.parts import Duration, Part, Texts

_BEGIN = re.compile(r"\s*(=|<>|!=|<=?|>=?|(not\s+)?(in|between|like)\b|is\b|not\s+null\s*$)", re.IGNORECASE)
_COMPARISON = re.compile(r"\s*(=|<>|!=|<=?|>=?|between\b)", re.IGNORECASE)
_NOT_NULL = re.compile(r"\s*not\s+null\s*", re.IGNORECASE)
_NEXT = re.compile(r"\b(and|or)\s+(?==|<|>|!|not\s+null|is\s)", re.IGNORECASE)
_HOW = "write >= 0, between 1 and 9, in ('a', 'b'), like 'A%' or not null"


def _condition(value: str) -> str:
    if not _BEGIN.match(value):
        raise ValueError(f"{value!r} is no condition; {_HOW}")
    return value


def _comparison(value: str) -> str:
    if not _COMPARISON.match(value):
        raise ValueError(f"{value!r} is no condition of a number of rows; write >= 100, or between 100 and 1000")
    return value


Condition = Annotated[str, AfterValidator(_condition)]


def filter_text(column: str, condition: str) -> str:
    """The condition on a column as a filter, such as `"amount" >= 0`."""
    name = ".".join('"' + part.replace('"', '""') + '"' for part in column.split("."))
    predicate = "is not null" if _NOT_NULL.fullmatch(condition) else condition.strip()
    return f"{name} {_NEXT.sub(lambda match: f'{match[1]} {name} ', predicate)}"


class Expect(Part):
    """The expectations. A column's name is a key of its own, or of `columns` if it is also the name of another key.

    - `rows`: the number of rows of a load;
    - `unique`: columns whose values together are in one row of a load only;
    - `freshness`: the longest time since the newest file of the source was changed;
    - `columns`: conditions that no row may break. Null breaks none but `not null`;
    - `on_failure`: a load that fails a check stops, or goes on with a warning.
    """

    rows: Annotated[str, AfterValidator(_comparison)] | None = None
    unique: Texts = ()
    freshness: Annotated[Duration, Field(gt=timedelta(0))] | None = None
    columns: dict[str, tuple[Condition, ...]] = Field(default={})
    on_failure: Literal["stop", "warn"] = "stop"

    @model_validator(mode="before")
    @classmethod
    def _by_column(cls, section: Any) -> Any:
        """Put the keys that are columns below `columns`."""
        if not isinstance(section, dict):
            return section
        own = {name: value for name, value in section.items() if name in cls.model_fields}
        columns = own.get("columns", {})
        others = {str(name): value for name, value in section.items() if name not in cls.model_fields}
        if not isinstance(columns, dict):
            return own
        if twice := columns.keys() & others.keys():
            raise ValueError(f"names the column {min(twice)!r} twice")
        merged = {**columns, **others}
        merged_columns = {name: (value,) if isinstance(value, str) else value for name, value in merged.items()}
        return {**own, "columns": merged_columns} if merged else own

    @property
    def reads_rows(self) -> bool:
        """True if the rows have to be read before they are loaded."""
        return bool(self.rows or self.unique or self.columns)

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """Each column and condition."""
        return tuple((name, condition) for name, conditions in self.columns.items() for condition in conditions)

    @property
    def texts(self) -> tuple[str, ...]:
        """The checks, for people."""
        rows = [f"rows {self.rows.strip()}"] if self.rows else []
        unique = [f"unique {', '.join(self.unique)}"] if self.unique else []
        return (*rows, *(f"{name} {condition.strip()}" for name, condition in self.conditions), *unique)


def unknown_columns(expect: Expect, names: Iterable[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Columns of checks that are not declared."""
    known = set(names)
    for name in expect.columns:
        if name.partition(".")[0] not in known:
            yield ("expect", name), "is no column of `schema`"
    for name in expect.unique:
        if name.partition(".")[0] not in known:
            yield ("expect", "unique"), f"names {name!r}, which is no column of `schema`"
