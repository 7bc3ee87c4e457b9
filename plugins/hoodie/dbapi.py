"""SQL over Hudi tables by Python's DB-API 2.0 (PEP 249), for programs and BI tools that speak no other.

Each statement that changes a table is a commit of its own: there is nothing to roll back, and `commit` has nothing to do.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import pyarrow as pa

from hoodie import errors
from hoodie.errors import HoodieError
from hoodie.sql import Connection as SqlConnection
from hoodie.sql import Result
from hoodie.sql import connect as connect_sql
from hoodie.sql.session import Session
from hoodie.sql.types import sql_type
from hoodie.storage import BasePath

apilevel = "2.0"
threadsafety = 1  # threads may share the module, not connections
paramstyle = "qmark"


class Warning(Exception):  # noqa: N818 - the name of PEP 249
    """Never raised."""


class Error(Exception):
    """Any error. The library's own error is the cause, with its finding and its fix in the text."""


class InterfaceError(Error):
    """A connection or cursor is used in a way that it is not made for, such as after it was closed."""


class DatabaseError(Error):
    """The base of what the tables answer."""


class DataError(DatabaseError):
    """Values that cannot be stored or computed."""


class OperationalError(DatabaseError):
    """Error that may pass a little later: a storage, a lock, another writer."""


class IntegrityError(DatabaseError):
    """Keys that are missing, or that several rows have."""


class InternalError(DatabaseError):
    """A damaged table."""


class ProgrammingError(DatabaseError):
    """A statement that cannot be read, or names what is not there."""


class NotSupportedError(DatabaseError):
    """Feature that tables do not have, such as a rollback of a commit by a connection."""


_KINDS: tuple[tuple[type[HoodieError], type[DatabaseError]], ...] = (
    (errors.RecordKeyError, IntegrityError),
    (errors.CorruptTableError, InternalError),
    (errors.CorruptFileError, InternalError),
    (errors.MissingFileError, InternalError),
    (errors.UnsupportedTableError, NotSupportedError),
    (errors.SqlError, ProgrammingError),
    (errors.ConfigError, ProgrammingError),
    (errors.TableNotFoundError, ProgrammingError),
    (errors.TableExistsError, ProgrammingError),
    (errors.TimeTravelError, ProgrammingError),
    (errors.DataError, DataError),
    (errors.SchemaConflictError, DataError),
)

Date, Time, Timestamp, Binary = datetime.date, datetime.time, datetime.datetime, bytes


def DateFromTicks(ticks: float) -> datetime.date:  # noqa: N802 - the name of PEP 249
    """The local day of a time in seconds since 1970."""
    return datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802 - the name of PEP 249
    """The local time of day of a time in seconds since 1970."""
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:  # noqa: N802 - the name of PEP 249
    """The local time of a time in seconds since 1970."""
    return datetime.datetime.fromtimestamp(ticks)


class _TypeObject(frozenset[str]):
    """Equal to each of some names of types in a cursor's description."""

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, str) else frozenset.__eq__(self, other)

    __hash__ = frozenset.__hash__


STRING = _TypeObject({"string"})
BINARY = _TypeObject({"binary"})
NUMBER = _TypeObject({"int", "bigint", "float", "double", "decimal", "boolean"})
DATETIME = _TypeObject({"date", "timestamp", "timestamp_ntz"})
ROWID = _TypeObject()


def connect(
    warehouse: BasePath, *, database: str | None = None, options: Mapping[str, str] | None = None
) -> Connection:
    """A connection to the tables of a warehouse, as `hoodie.sql.connect` makes it. Raises ProgrammingError."""
    with _errors():
        return Connection(connect_sql(warehouse, database=database, options=options))


class Connection:
    """One session: the database in use, the options that were set, temporary views."""

    Warning, Error, InterfaceError, DatabaseError = Warning, Error, InterfaceError, DatabaseError
    DataError, OperationalError, IntegrityError, InternalError = (
        DataError,
        OperationalError,
        IntegrityError,
        InternalError,
    )
    ProgrammingError, NotSupportedError = ProgrammingError, NotSupportedError

    def __init__(self, inner: SqlConnection) -> None:
        """Use `connect`."""
        self._inner: SqlConnection | None = inner

    @property
    def session(self) -> Session:
        """The catalog, the database in use and the options that were set."""
        return self._open().session

    def cursor(self) -> Cursor:
        """A cursor. Those of one connection run their statements one after the other."""
        self._open()
        return Cursor(self)

    def commit(self) -> None:
        """Nothing: each statement is a commit of its own."""
        self._open()

    def rollback(self) -> NoReturn:
        """Raises NotSupportedError: what a statement has done is committed (`hudi-services rollback` takes commits back)."""
        self._open()
        raise NotSupportedError("A connection cannot roll back committed statements")

    def close(self) -> None:
        """The connection cannot be used any more. Closing it again does nothing."""
        if self._inner is not None:
            self._inner.close()
        self._inner = None

    def _open(self) -> SqlConnection:
        if self._inner is None:
            raise InterfaceError("The connection is closed")
        return self._inner

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_failed: object) -> None:
        self.close()


class Cursor:
    """Runs statements, and gives the rows of the last query."""

    def __init__(self, connection: Connection) -> None:
        """Use `Connection.cursor`."""
        self.connection = connection
        self.arraysize = 1
        self.description: list[tuple[str, str, None, None, int | None, int | None, bool]] | None = None
        self.rowcount = -1
        self._rows: Iterator[tuple[Any, ...]] | None = None
        self._closed = False

    def execute(self, operation: str, parameters: Sequence[Any] = ()) -> Cursor:
        """Run a statement, or several with semicolons between them; `?` stands for the next of the `parameters`.

        Raises one of the errors of this module.
        """
        inner = self._open()
        with _errors():
            self._take(inner.sql(operation, parameters))
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> Cursor:
        """Run a statement once for each sequence of parameters. An `INSERT … VALUES (…)` writes all its rows in one commit."""
        inner = self._open()
        with _errors():
            results = inner.run_many(operation, seq_of_parameters)
            for result in results:
                self._take(result)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, None when there is none left."""
        return next(self._result(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next `size` rows, by default `arraysize`."""
        rows = self._result()
        return [row for _, row in zip(range(self.arraysize if size is None else size), rows, strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        return list(self._result())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._result()

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Nothing."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing."""

    def close(self) -> None:
        """The cursor cannot be used any more."""
        self._closed, self._rows = True, None

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_failed: object) -> None:
        self.close()

    def _take(self, result: Result) -> None:
        if result.message is not None:
            self.description, self._rows, self.rowcount = None, None, -1
            return
        self.description = [
            (field.name, _word(field.type), None, None, *_digits(field.type), field.nullable)
            for field in result.table.schema
        ]
        self._rows, self.rowcount = _fetched(result), len(result)

    def _result(self) -> Iterator[tuple[Any, ...]]:
        self._open()
        if self._rows is None:
            raise ProgrammingError("The last statement gave no rows, or there was none")
        return self._rows

    def _open(self) -> SqlConnection:
        if self._closed:
            raise InterfaceError("The cursor is closed")
        return self.connection._open()


def _word(kind: pa.DataType) -> str:
    try:
        return sql_type(kind).partition("(")[0].partition("<")[0].lower()
    except errors.SqlError:
        return str(kind)


def _digits(kind: pa.DataType) -> tuple[int | None, int | None]:
    return (kind.precision, kind.scale) if pa.types.is_decimal(kind) else (None, None)


@contextmanager
def _errors() -> Iterator[None]:
    """The library's errors become those of this module."""
    try:
        yield
    except HoodieError as error:
        kind = OperationalError if error.retryable or isinstance(error, OSError) else DatabaseError
        raise next((matching for own, matching in _KINDS if isinstance(error, own)), kind)(str(error)) from error


def _fetched(result: Result) -> Iterator[tuple[Any, ...]]:
    with _errors():
        yield from result
