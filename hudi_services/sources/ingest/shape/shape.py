"""Changes to the rows of a source before the table sees them: columns renamed, times parsed, types cast, SQL run.

The driver plans them once, from the columns alone, and each task applies them to each piece of its rows. A row becomes one row,
or the SQL's WHERE leaves it out, or it does not fit and is reported with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from hoodie.errors import ConfigError, SourceError
from hudi_services.entry.feed.arrow import arrow_type
from hudi_services.entry.feed.model import Feed
from hudi_services.entry.feed.times import Times
from hudi_services.sources.ingest.columns import filled_columns, text_columns
from hudi_services.sources.ingest.exact_cast import ExactFit
from hudi_services.sources.ingest.shape.duck import Duck, opened
from hudi_services.sources.ingest.shape.moments import TimesFit, kind_of
from hudi_services.sources.ingest.shape.selection import select, selected_columns
from hudi_services.sources.ingest.shape.statement import Statement, parsed
from hudi_services.sources.ingest.typed_columns import Fit, Fitted, typed


@dataclass(frozen=True)
class Shaped:
    """Rows in their new columns. `places` are theirs among the rows that came, `misfits` those of rows that do not fit, and why.

    Rows in neither were filtered.
    """

    rows: pa.Table
    places: np.ndarray
    misfits: Mapping[int, str]


@dataclass(frozen=True)
class Shape:
    """`renamed` has the new names of columns by their names in the source; all other fields use the new names."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, Times] = field(default_factory=dict)
    cast: Mapping[str, pa.DataType] = field(default_factory=dict)
    sql: Statement | None = None

    @classmethod
    def of(cls, feed: Feed) -> Shape:
        """Raises ConfigError for SQL that cannot be used."""
        return cls(
            dict(feed.rename),
            {name: declared.times for name, declared in feed.timestamps.items()},
            {name: arrow_type(text) for name, text in feed.cast.items()},
            parsed(feed.sql) if feed.sql is not None else None,
        )

    def __bool__(self) -> bool:
        return bool(self.renamed or self.times or self.cast or self.sql)

    @property
    def steps(self) -> tuple[str, ...]:
        """One line for each step, for people."""
        return (
            *(f"rename {old} to {new}" for old, new in self.renamed.items()),
            *(f"parse times of {name}: {times}" for name, times in self.times.items()),
            *(f"cast {name} to {kind}" for name, kind in self.cast.items()),
            *((f"sql: {' '.join(self.sql.text.split())}",) if self.sql is not None else ()),
        )

    @property
    def later(self) -> pa.Schema:
        """Columns of the source, by its own names, that get these types here; numbers first, where they are times."""
        times = {name: pa.int64() if time.are_numbers else kind_of(time) for name, time in self.times.items()}
        kinds = {**self.cast, **times}
        return pa.schema([(self._old(name), kind) for name, kind in kinds.items()])

    def expected(self, known: pa.Schema | None) -> pa.Schema | None:
        """The columns of the table that are `known`, by their names in the source, without those whose types change."""
        before = self._before_sql(known)
        if before is None:
            return None
        same = [column for column in before if column.name not in self.cast and column.name not in self.times]
        return pa.schema([column.with_name(self._old(column.name)) for column in same])

    def names(self, known: pa.Schema | None) -> tuple[str, ...]:
        """The names in the source of the table's columns `known`, but of those that SQL computes."""
        return tuple(self._old(column.name) for column in self._before_sql(known) or ())

    def plan(self, schema: pa.Schema, known: pa.Schema | None, source: str) -> Shaping:
        """Plan the changes to the columns `found` in the source of that name, for a table of the columns `known`.

        Raises SourceError for columns that are not there or would be two, ConfigError for SQL that does not fit them.
        """
        before = self._before_sql(known)
        incoming = self._incoming(schema, before, source)
        filled = filled_columns(incoming, before)
        settled = text_columns(filled)
        if self.sql is None:
            return Shaping(self, settled, incoming)
        with opened() as duck:
            try:
                return Shaping(self, settled, selected_columns(duck, self.sql, settled, filled))
            except ConfigError:
                untyped = [
                    column.name
                    for column in incoming
                    if pa.types.is_null(column.type) and column.name.lower() in self.sql.names
                ]
                loose = _with_types(settled, dict.fromkeys(untyped, pa.null()))
                if known is None or loose == settled:
                    raise
            # Nothing but nulls came in these columns, and the statement does not take texts: it gets nulls.
            selected = selected_columns(duck, self.sql, loose, loose)
            kinds = {column.name: column.type for column in known if self.sql.source_of(column.name) is None}
            return Shaping(self, loose, _with_types(selected, kinds))

    def _incoming(self, schema: pa.Schema, before: pa.Schema | None, source: str) -> pa.Schema:
        """The columns that the SQL gets, or the table where there is none."""
        names = [self.renamed.get(name, name) for name in schema.names]
        if twice := [name for name in names if names.count(name) > 1]:
            olds = [old for old, new in zip(schema.names, names, strict=True) if new == twice[0]]
            raise SourceError(
                f"Two columns of {source} would be called {twice[0]!r}",
                found=f"columns {' and '.join(map(repr, olds))}",
                fix="change `rename` of the source; nothing was loaded",
            )
        kinds = self._kinds
        fields = [
            column.with_name(name).with_type(kinds.get(name, column.type))
            for column, name in zip(schema, names, strict=True)
        ]
        known = before.names if before is not None else []
        declared = {"rename": self.renamed.values(), "timestamps": self.times, "cast": self.cast}
        absent = {name: key for key, columns in declared.items() for name in columns if name not in names}
        for name, key in absent.items():
            if before is not None and name in kinds and self.sql is not None and name.lower() in self.sql.names:
                fields.append(pa.field(name, kinds[name]))  # the statement needs it, also where no row has it
            elif name not in known:
                raise SourceError(
                    f"Column {self._old(name)!r} is in no row of {source}",
                    found=f"columns {', '.join(schema.names)}",
                    fix=f"correct `{key}` of the source; nothing was loaded",
                )
        return pa.schema(fields)

    @property
    def _kinds(self) -> Mapping[str, pa.DataType]:
        return {**{name: kind_of(times) for name, times in self.times.items()}, **self.cast}

    def _before_sql(self, known: pa.Schema | None) -> pa.Schema | None:
        """The table's columns that the SQL leaves as they come, by the names that they have there."""
        if known is None or self.sql is None:
            return known
        named = [(self.sql.source_of(column.name), column) for column in known]
        return pa.schema([column.with_name(name) for name, column in named if name is not None])

    def _old(self, name: str) -> str:
        """A column's name in the source."""
        return next((old for old, new in self.renamed.items() if new == name), name)


def _with_types(columns: pa.Schema, kinds: Mapping[str, pa.DataType]) -> pa.Schema:
    return pa.schema([column.with_type(kinds.get(column.name, column.type)) for column in columns])


@dataclass(frozen=True)
class Shaping:
    """A shape for a source with known columns. Picklable.

    `incoming` are the columns that the SQL gets, `outgoing` those after it; null if no value showed a type.
    """

    shape: Shape
    incoming: pa.Schema
    outgoing: pa.Schema

    @contextmanager
    def opened(self) -> Iterator[Shaper]:
        """A shaper for one task."""
        with opened() if self.shape.sql is not None or self.shape.times else nullcontext() as duck:
            fits: dict[str, Fit] = {name: ExactFit(kind) for name, kind in self.shape.cast.items()}
            for name, times in self.shape.times.items():
                assert duck is not None
                first = TimesFit(times, duck)
                fits[name] = Both(first, fits[name]) if name in fits else first
            fits |= {column.name: _as_nulls for column in self.incoming if pa.types.is_null(column.type)}
            yield Shaper(self, duck, fits)


@dataclass(frozen=True)
class Shaper:
    """Shapes the rows of one task."""

    shaping: Shaping
    duck: Duck | None
    fits: Mapping[str, Fit]

    def __call__(self, rows: pa.Table) -> Shaped:
        """Raises SourceError for SQL that fails, and not because of a few values."""
        shape = self.shaping.shape
        if not shape:
            return Shaped(rows, np.arange(rows.num_rows), {})
        named = rows.rename_columns([shape.renamed.get(name, name) for name in rows.schema.names])
        cast, bad, reasons = typed(named, self.shaping.incoming, self.fits)
        misfits = dict(zip(map(int, np.flatnonzero(bad)), reasons, strict=True))
        places = np.flatnonzero(~bad)
        good = cast.filter(pa.array(~bad)) if bad.any() else cast
        if shape.sql is None or self.duck is None:
            return Shaped(good, places, misfits)
        result = select(self.duck, shape.sql, good)
        misfits |= {int(places[place]): reason for place, reason in result.misfits.items()}
        shaped_rows = pa.concat_tables(result.rows) if result.rows else self.shaping.outgoing.empty_table()
        return Shaped(shaped_rows, places[np.concatenate([*result.places, np.array([], dtype=int)])], misfits)


def _as_nulls(column: pa.Array) -> Fitted:
    return Fitted(pa.nulls(len(column)), {})


@dataclass(frozen=True)
class Both:
    """One after the other. A `Fit`."""

    first: Fit
    second: Fit

    def __call__(self, column: pa.Array) -> Fitted:
        earlier = self.first(column)
        other = self.second(earlier.column)
        return Fitted(other.column, {**other.misfits, **earlier.misfits})
