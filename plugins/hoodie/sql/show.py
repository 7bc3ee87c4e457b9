"""SHOW: names of tables, databases, partitions and columns, and a table in the words of CREATE TABLE."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

import pyarrow as pa
import sqlglot
from sqlglot import exp

from hoodie.errors import SqlError, TableNotFoundError
from hoodie.sql.catalog import Entry
from hoodie.sql.parse import DIALECT
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.sql.show_create import create_statement, table_properties
from hoodie.table import HoodieTable

_NAME = r"(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*"
_LIKE = r"(?:\s+(?:LIKE\s+)?'(?P<like>[^']*)')?"
_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"


def show(session: Session, text: str) -> Result | None:
    """The rows of SHOW. None if no table of the catalog is concerned. Raises SqlError, TableNotFoundError."""
    for pattern, run in _KINDS:
        match = re.fullmatch(pattern, text.strip(), re.IGNORECASE | re.DOTALL)
        if match is not None:
            return run(session, match)
    return None


def _tables(session: Session, match: re.Match[str]) -> Result:
    database = _plain(match["database"] or session.database)
    if database not in session.catalog.databases():
        raise TableNotFoundError(f"There is no database {database}", fix="SHOW DATABASES")
    names = _like([table.name for table in session.catalog.tables(database)], match["like"])
    return Result(
        pa.table(
            {
                "namespace": pa.array([database for _ in names], pa.string()),
                "tableName": pa.array(names, pa.string()),
                "isTemporary": pa.array([False for _ in names], pa.bool_()),
            }
        )
    )


def _databases(session: Session, match: re.Match[str]) -> Result:
    return _texts(namespace=_like(session.catalog.databases(), match["like"]))


def _partitions(session: Session, match: re.Match[str]) -> Result | None:
    table = _table(session, match["table"])
    if table is None:
        return None
    fields, spec = table.properties.partition_fields, dict[str, str | None]()
    if match["spec"] is not None:
        spec = _spec(match["spec"], fields, match["table"])
    if not fields:
        return _texts(partition=[])
    paths = sorted({file_slice.partition for file_slice in table.file_slices()})
    return _texts(partition=[path for path in paths if not spec or _is_wanted(path, fields, spec)])


def _spec(text: str, fields: Sequence[str], table: str) -> dict[str, str | None]:
    """The values that PARTITION gives to partition columns; None for NULL."""
    columns, spec = {name.lower(): name for name in fields}, {}
    for expression in sqlglot.parse_one(f"f({text})", read=DIALECT).expressions:
        name = expression.this.name.lower() if isinstance(expression, exp.EQ) else ""
        if name not in columns:
            raise SqlError(
                f"PARTITION names no partition column of {table}: {expression.sql(dialect=DIALECT)}",
                found=f"partitioned by {', '.join(fields) or 'nothing'}",
                fix="write PARTITION (column = value)",
            )
        value = expression.expression
        spec[columns[name]] = None if isinstance(value, exp.Null) else str(value.name)
    return spec


def _is_wanted(path: str, fields: Sequence[str], spec: dict[str, str | None]) -> bool:
    parts = path.split("/")
    if len(parts) != len(fields):
        raise SqlError(
            "Partitions of this table cannot be chosen by values",
            found=f"the folder {path} of the columns {', '.join(fields)}",
            fix="leave PARTITION out",
        )
    for part, field in zip(parts, fields, strict=True):
        value = part.removeprefix(f"{field}=")
        if field in spec and (None if value == _NULL_FOLDER else unquote(value)) != spec[field]:
            return False
    return True


def _create_table(session: Session, match: re.Match[str]) -> Result | None:
    entry = _entry(session, match["table"])
    return None if entry is None else _texts(createtab_stmt=[create_statement(entry, session.open(entry))])


def _properties(session: Session, match: re.Match[str]) -> Result | None:
    entry = _entry(session, match["table"])
    if entry is None:
        return None
    properties = {**table_properties(entry, session.open(entry)), "path": entry.location}
    if match["key"] is not None:
        key = match["key"].strip().strip("'\"`")
        names = {name.lower(): name for name in properties}
        properties = {
            key: properties.get(names.get(key.lower(), key), f"Table {entry.name} does not have property: {key}")
        }
    return _texts(key=sorted(properties), value=[properties[name] for name in sorted(properties)])


def _columns(session: Session, match: re.Match[str]) -> Result | None:
    name = match["table"] if match["database"] is None else f"{match['database']}.{match['table'].rpartition('.')[2]}"
    table = _table(session, name)
    return None if table is None else _texts(col_name=table.schema.names)


def _entry(session: Session, text: str) -> Entry | None:
    node = exp.to_table(text, dialect=DIALECT)
    return None if session.is_of_engine(node) else session.entry(node)


def _table(session: Session, text: str) -> HoodieTable | None:
    entry = _entry(session, text)
    return None if entry is None else session.open(entry)


def _plain(name: str) -> str:
    return name.strip("`").lower()


def _like(names: Sequence[str], pattern: str | None) -> list[str]:
    """Those of `names` that a pattern of SHOW takes: * stands for anything, | is or."""
    if pattern is None:
        return list(names)
    regex = "|".join(".*".join(map(re.escape, part.strip().split("*"))) for part in pattern.split("|"))
    return [name for name in names if re.fullmatch(regex, name, re.IGNORECASE)]


def _texts(**columns: Sequence[str]) -> Result:
    return Result(pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}))


_KINDS: tuple[tuple[str, Callable[[Session, re.Match[str]], Result | None]], ...] = (
    (rf"TABLES(?:\s+(?:IN|FROM)\s+(?P<database>`?\w+`?))?{_LIKE}", _tables),
    (rf"(?:DATABASES|SCHEMAS|NAMESPACES){_LIKE}", _databases),
    (rf"PARTITIONS\s+(?P<table>{_NAME})(?:\s+PARTITION\s*\((?P<spec>.*)\))?", _partitions),
    (rf"CREATE\s+TABLE\s+(?P<table>{_NAME})", _create_table),
    (rf"TBLPROPERTIES\s+(?P<table>{_NAME})(?:\s*\((?P<key>[^()]*)\))?", _properties),
    (rf"COLUMNS\s+(?:IN|FROM)\s+(?P<table>{_NAME})(?:\s+(?:IN|FROM)\s+(?P<database>`?\w+`?))?", _columns),
)
