"""The door to SQL: statements go to the library where they name a Hudi table, and to the engine where they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from hoodie.engine import Engine
from hoodie.error_boundary import call
from hoodie.errors import ArgumentError, SqlError
from hoodie.sql.catalog import Catalog
from hoodie.sql.duck import DuckEngine
from hoodie.sql.engine import QueryEngine
from hoodie.sql.names import checked_name
from hoodie.sql.parse import Statement, bound, multiplied, placed, statements
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.sql.statements import run_statement
from hoodie.sql.warehouse import Warehouse
from hoodie.storage import BasePath

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_METASTORE = "thrift://"


class Extension(Protocol):
    """Statements that the library does not have itself, such as those of servers of databases."""

    def run(self, session: Session, statement: Statement) -> Result | None:
        """Run a statement, None for one that is not its own. Raises HoodieError."""
        ...


class Connection:
    """Statements run one after the other; each that changes a table is one commit of it. Not for several threads."""

    def __init__(self, session: Session, extensions: Sequence[Extension] = ()) -> None:
        """Use `connect`."""
        self._session = session
        self._extensions = tuple(extensions)

    @property
    def session(self) -> Session:
        """The catalog, the engine, the database in use and the options that were set."""
        return self._session

    def sql(self, text: str, parameters: Sequence[object] = ()) -> Result:
        """Run the statements of `text`, between semicolons, and return what the last one gives.

        Each `?` stands for the next of the `parameters`.

        Raises SqlError for text that is not SQL, for unknown names, and any error of the library; the statements before are done.
        """
        last = Result.of_message("nothing to do")
        for result in self.run(text, parameters):
            last = result
        return last

    def run(self, text: str, parameters: Sequence[object] = ()) -> Iterator[Result]:
        """The result of each statement, run when it is asked for."""
        for statement in bound(list(statements(text)), parameters) if parameters else statements(text):
            with placed(statement.place):
                result = self._run(statement)
            yield result

    def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> Iterator[Result]:
        """The results of the statements with each of the `rows` as parameters. All rows of one INSERT of VALUES are one
        commit."""
        parsed = list(statements(text))
        if len(parsed) == 1 and len(rows) > 1 and self._inserts_values(parsed[0].tree):
            yield self._run(multiplied(parsed[0], rows))
        else:
            for row in rows:
                yield from self.run(text, row)

    def _inserts_values(self, tree: exp.Expression) -> bool:
        """Return whether it inserts one row of VALUES into a Hudi table."""
        rows = tree.expression if isinstance(tree, exp.Insert) else None
        if not isinstance(rows, exp.Values) or len(rows.expressions) != 1:
            return False
        into = tree.this.find(exp.Table)
        return isinstance(into, exp.Table) and self._session.is_known(into)

    def close(self) -> None:
        """Give back what engine and catalog hold. Temporary views go."""
        self._session.engine.close()
        self._session.catalog.close()

    def _run(self, statement: Statement) -> Result:
        with call("running SQL", changes=True):
            for extension in self._extensions:
                result = extension.run(self._session, statement)
                if result is not None:
                    return result
            if statement.source_moment is not None:
                raise SqlError(
                    "AS OF SOURCE needs the cuts of a database server, which this session does not know",
                    fix="run the query by `hudi-services sql`",
                )
            return run_statement(self._session, statement)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_failed: object) -> None:
        self.close()


def connect(
    warehouse: BasePath | None = None,
    *,
    catalog: Catalog | None = None,
    database: str | None = None,
    options: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
    tasks: Engine | None = None,
    extensions: Sequence[Extension] = (),
) -> Connection:
    """A connection to the tables of a warehouse: a folder, a URL, or `thrift://` of a Hive metastore; or of a `catalog`.

    DuckDB runs the queries, in this process, or else `spark`. Beside DuckDB the library reads and writes on `tasks`, or else
    on threads.

    `database` is the one in use, `default` if it is not given. `options` are those of reads and writes, as SET gives them.
    Each statement goes to the `extensions` first.

    Raises SqlError for a database that is not there, ArgumentError for a session that was stopped, and where not exactly one
    of `warehouse` and `catalog` is given.
    """
    session = Session(_catalog(warehouse, catalog, options), _engine(spark, tasks), options=dict(options or {}))
    if database is not None:
        session.use(checked_name(database, "database"))
    return Connection(session, extensions)


def _catalog(warehouse: BasePath | None, catalog: Catalog | None, options: Mapping[str, str] | None) -> Catalog:
    if catalog is not None and warehouse is None:
        return catalog
    if warehouse is not None and catalog is None:
        if isinstance(warehouse, str) and warehouse.startswith(_METASTORE):
            from hoodie.sql.hive import HiveCatalog  # loads Thrift

            return HiveCatalog(warehouse, options)
        return Warehouse(warehouse)
    raise ArgumentError(
        "SQL wants one catalog of tables",
        found="none" if catalog is None else "a warehouse and a catalog",
        fix="give either `warehouse`, a folder, or `catalog`",
    )


def _engine(spark: SparkSession | None, tasks: Engine | None) -> QueryEngine:
    if spark is None:
        return DuckEngine(tasks=tasks)
    from hoodie.sql.spark.engine import SparkQueries  # loads PySpark

    return SparkQueries(spark)
