"""A procedure: its name, parameters, columns, and the function that gives its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hoodie.cache import cached_property
from hoodie.errors import SqlError
from hoodie.sql.catalog import Entry, entry_of
from hoodie.sql.names import TableName
from hoodie.sql.session import Session
from hoodie.table import HoodieTable
from hoodie.view import TableState

TEXT, INT, LONG, FLOAT, FLAG = pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.bool_()


@dataclass(frozen=True)
class Parameter:
    """A parameter by its name in Hudi, with its type, and its value where none is given."""

    name: str
    kind: pa.DataType = TEXT
    default: Any = None
    required: bool = False


TABLE = Parameter("table", required=True)
TABLE_OR_PATH = (Parameter("table"), Parameter("path"))
FILTER = Parameter("filter", default="")
INSTANT = Parameter("instant_time", required=True)


def limit(rows: int = 10) -> Parameter:
    """How many rows are given at most."""
    return Parameter("limit", INT, rows)


def columns(**kinds: pa.DataType) -> pa.Schema:
    """The columns of a result."""
    return pa.schema(list(kinds.items()))


@dataclass(frozen=True)
class Call:
    """A procedure as it was called: a value for each of its parameters."""

    session: Session
    procedure: Procedure
    arguments: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    @cached_property
    def entry(self) -> Entry:
        """The table, by its name, or by its path. Raises SqlError when neither is given, TableNotFoundError."""
        name, path = self.arguments.get("table"), self.arguments.get("path")
        if name is not None:
            return entry_of(self.session.catalog, _named(str(name), self.session.database))
        if path is None:
            raise SqlError(f"{self.procedure.name} is called without a table", fix="give table => '…', or path => '…'")
        return Entry(TableName(self.session.database, str(path)), str(path), managed=False)

    @cached_property
    def table(self) -> HoodieTable:
        return self.session.open(self.entry)

    @cached_property
    def state(self) -> TableState:
        """The table as it was when it was first asked for."""
        return self.table.state()

    def options(self, arguments: Mapping[str, object] | None = None) -> dict[str, object]:
        """Options of a service: those of the table, over them those that were set, those of `options`, and `arguments`."""
        options = self.arguments.get("options")
        pairs = (part.partition("=") for part in str(options).split(",")) if options else ()
        parsed = {name.strip(): value.strip() for name, _, value in pairs if name.strip()}
        own_options = {name: value for name, value in (arguments or {}).items() if value is not None}
        return {**self.session.write_options(self.entry), **parsed, **own_options}


@dataclass(frozen=True)
class Procedure:
    """`does` is one sentence of it, `differs` says what is not as in Hudi. `run` gives the rows, all of them: the parameters
    `filter` and `limit`, where there are, are applied to what it gives."""

    name: str
    does: str
    parameters: tuple[Parameter, ...]
    result: pa.Schema
    run: Callable[[Call], Iterable[tuple[Any, ...]]]
    differs: str = ""


def _named(name: str, database: str) -> TableName:
    before, dot, last = name.replace("`", "").lower().rpartition(".")
    if "." in before:
        raise SqlError(f"A table is named by three parts: {name:.100}", fix="name the database and the table")
    return TableName(before if dot else database, last)
