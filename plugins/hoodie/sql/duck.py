"""DuckDB as the engine of queries: it asks each table for the columns and rows that it needs."""

from __future__ import annotations

import itertools
import re
import threading
import weakref
from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from hoodie.dataset import TableDataset
from hoodie.engine import Engine
from hoodie.errors import HoodieError, SqlError
from hoodie.sql.arrow_rows import ArrowRows
from hoodie.sql.column_names import with_written_names
from hoodie.sql.conditions import CONDITION, as_written
from hoodie.sql.duck_text import duckdb_text
from hoodie.sql.engine import NamedSource
from hoodie.sql.floats import floats_as_doubles
from hoodie.sql.macros import Macros
from hoodie.sql.missing_columns import unknown_column
from hoodie.sql.names import renamed
from hoodie.sql.parse import Statement, shortened

_NUMBERS = itertools.count()
_IN_SPARKS_SQL = (exp.Query, exp.Create, exp.Insert)
"""Statements whose expressions are translated."""
_OWN = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
"""Each lists the whole catalog, with the views of DuckDB itself: that takes longer than a small query."""


class DuckEngine:
    """A database in memory, of one connection. Its own tables and views are those that statements make in it."""

    name = "DuckDB"
    is_lasting = False

    def __init__(self, database: duckdb.DuckDBPyConnection | None = None, tasks: Engine | None = None) -> None:
        """`tasks` is what reads and writes of the library run on; None: threads."""
        self.tasks = tasks
        self._database = duckdb.connect() if database is None else database
        self._database.execute("SET TimeZone = 'UTC'")
        self._macros = Macros(self._database)
        weakref.finalize(self, self._database.close)
        self._lock = threading.Lock()  # it runs one statement at a time
        self._own: frozenset[str] | None = None  # its tables and views; None: not asked since the last statement

    def query(self, tree: exp.Expression, sources: Sequence[NamedSource]) -> ArrowRows:
        """The rows of a query in Spark's SQL, whose tables `sources` are Hudi's. Raises SqlError for what DuckDB cannot do, and
        what reading a table raises."""
        return ArrowRows(with_written_names(self._queried(tree, sources), tree))

    def explained(self, tree: exp.Expression, sources: Sequence[NamedSource]) -> str:
        """DuckDB's plan of such a query. Raises SqlError for what DuckDB cannot do."""
        return "\n".join(self._queried(tree, sources, "EXPLAIN ").column("explain_value").to_pylist())

    def _queried(self, tree: exp.Expression, sources: Sequence[NamedSource], word: str = "") -> pa.Table:
        names = [f"__hoodie_{next(_NUMBERS)}" for _ in sources]
        marks = {
            id(table): name for (table, _), name in zip(sources, names, strict=True)
        }  # nodes that say the same are equal
        written = tree
        tree = renamed(tree, marks)
        text = word + _text(floats_as_doubles(tree, (source.schema for _, source in sources)))
        with self._lock:
            try:
                for (_, source), name in zip(sources, names, strict=True):
                    self._database.register(name, source.table if isinstance(source, ArrowRows) else source)
                return self._rows(text)
            except SqlError as error:
                failures = (source.failure for _, source in sources if isinstance(source, TableDataset))
                if (failure := next(filter(None, failures), None)) is not None:
                    raise failure from None
                columns = [(table, source.schema.names) for table, source in sources]
                if (unknown := unknown_column(written, columns)) is not None:
                    raise unknown from error
                shown_names = {name: table.name for (table, _), name in zip(sources, names, strict=True)}
                raise _with_names(error, shown_names) from error.__cause__
            finally:
                for name in names:
                    self._database.unregister(name)

    def filtered(self, rows: pa.Table, condition: exp.Expression) -> pa.Table:
        """Those of `rows` for which a condition in Spark's SQL holds. Raises SqlError."""
        name = f"__hoodie_{next(_NUMBERS)}"
        query = exp.select("*").from_(exp.to_identifier(name, quoted=True)).where(condition)
        with self._lock:
            try:
                self._database.register(name, rows)
                return self._rows(_text(floats_as_doubles(query, [rows.schema])))
            finally:
                self._database.unregister(name)

    def run(self, statement: Statement) -> pa.Table:
        """A statement that names no Hudi table: one with a query in Spark's SQL, like those of Hudi tables, another one as it was
        written. Raises SqlError for what DuckDB cannot do."""
        with self._lock:
            self._own = None
            if isinstance(statement.tree, _IN_SPARKS_SQL):
                rows = self._rows(_text(floats_as_doubles(statement.tree, ())), statement=statement.text)
                return with_written_names(rows, statement.tree)
            return self._rows(statement.text, statement.parameters)

    def has(self, name: str) -> bool:
        """Return whether the engine has a table or view of this name itself."""
        with self._lock:
            if self._own is None:
                rows = self._database.execute(_OWN).fetchall()
                self._own = frozenset(own for (own,) in rows)
            return name in self._own

    has_temporary = has

    def close(self) -> None:
        self._database.close()

    def _rows(self, text: str, parameters: Sequence[object] = (), statement: str | None = None) -> pa.Table:
        """The rows of a text of DuckDB's, which errors show as the `statement` that was given."""
        try:
            self._macros.make(text)
            relation: duckdb.DuckDBPyRelation | None = self._database.sql(text, params=list(parameters) or None)
            if relation is None:
                return pa.table({})
            huge_columns = [
                n for n, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "HUGEINT"
            ]
            if huge_columns:  # sums of integers, which are BIGINT in Spark
                columns = [
                    f'CAST("{_quoted(n)}" AS BIGINT) AS "{_quoted(n)}"' if n in huge_columns else f'"{_quoted(n)}"'
                    for n in relation.columns
                ]
                relation = relation.project(", ".join(columns))
            return relation.to_arrow_table()
        except duckdb.Error as error:
            cause = error.__cause__ or error.__context__
            if isinstance(cause, HoodieError):
                raise cause from None
            if CONDITION in str(error).partition("\n\nLINE")[0].upper():
                raise SqlError(
                    f"A condition is not boolean: {shortened(statement or as_written(text))}",
                    fix="compare it with a value, such as `id <> 0`; nothing was changed",
                ) from error
            raise SqlError(
                f"DuckDB cannot run: {shortened(statement or as_written(text))}",
                found=str(error).partition("\n\nLINE")[0],
                fix="correct the statement, or run it on Spark",
            ) from error


def _text(tree: exp.Expression) -> str:
    try:
        return duckdb_text(tree)
    except SqlglotError as error:
        raise SqlError(
            f"DuckDB has no words for: {shortened(tree.sql(dialect='spark'))}",
            found=str(error),
            fix="write it in another way, or run it on Spark",
        ) from error


def _with_names(error: SqlError, names: Mapping[str, str]) -> SqlError:
    """The error with the names of tables as the statement has them."""

    def shown(text: str) -> str:
        for name, own in names.items():
            pieces = re.split(rf'"{name}"|{name}(?!\d)', text)
            text = own.join(pieces)
        return text

    return SqlError(shown(error.what), found=shown(error.found) if error.found is not None else None, fix=error.fix)


def _quoted(name: str) -> str:
    return name.replace('"', '""')
