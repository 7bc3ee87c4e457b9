"""Hudi tables in SQLAlchemy, for BI tools: `create_engine("hoodie:////data/lake")`, or `hoodie:///s3://lake`, or
`hoodie:///thrift://metastore:9083`, a Hive metastore.

The part after `?` in the URL has options of reads and writes, as SET gives them, and `database`, the one in use. Each statement
is a commit of its own; `Engine.begin` and `Session.commit` end nothing, and a statement cannot be rolled back.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, cast

import pyarrow as pa
from sqlalchemy import schema, types
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL, Connection, default, reflection
from sqlalchemy.exc import CompileError, NoSuchTableError
from sqlalchemy.sql import compiler
from sqlglot import exp

from hoodie import dbapi
from hoodie.errors import TableNotFoundError
from hoodie.sql.session import Session
from hoodie.table import HoodieTable


class _Identifiers(compiler.IdentifierPreparer):
    """Names are quoted as Spark quotes them."""

    reserved_words = compiler.RESERVED_WORDS

    def __init__(self, dialect: default.DefaultDialect) -> None:
        super().__init__(dialect, initial_quote="`")


class _Types(compiler.GenericTypeCompiler):
    """Types as tables hold them."""

    def visit_INTEGER(self, type_: types.Integer, **kw: Any) -> str:  # noqa: N802 - a name of SQLAlchemy's, as those below
        return "INT"

    def visit_SMALLINT(self, type_: types.SmallInteger, **kw: Any) -> str:  # noqa: N802
        return "INT"

    def visit_FLOAT(self, type_: types.Float[Any], **kw: Any) -> str:  # noqa: N802
        return "DOUBLE"

    visit_REAL = visit_DOUBLE = visit_DOUBLE_PRECISION = visit_FLOAT  # noqa: N815

    def visit_NUMERIC(self, type_: types.Numeric[Any], **kw: Any) -> str:  # noqa: N802
        return f"DECIMAL({type_.precision or 38}, {10 if type_.scale is None else type_.scale})"

    visit_DECIMAL = visit_NUMERIC  # noqa: N815

    def visit_VARCHAR(self, type_: types.String, **kw: Any) -> str:  # noqa: N802
        return "STRING"

    visit_CHAR = visit_NVARCHAR = visit_NCHAR = visit_TEXT = visit_CLOB = visit_VARCHAR  # noqa: N815

    def visit_BLOB(self, type_: types.LargeBinary, **kw: Any) -> str:  # noqa: N802
        return "BINARY"

    visit_BINARY = visit_VARBINARY = visit_BLOB  # type: ignore[assignment]  # noqa: N815

    def visit_DATETIME(self, type_: types.DateTime, **kw: Any) -> str:  # noqa: N802
        return "TIMESTAMP" if type_.timezone else "TIMESTAMP_NTZ"

    visit_TIMESTAMP = visit_DATETIME  # noqa: N815


class _Definitions(compiler.DDLCompiler):
    """CREATE TABLE: the primary key is the record key, and `hoodie_…` arguments of a Table say the rest."""

    def visit_primary_key_constraint(self, constraint: schema.PrimaryKeyConstraint, **kw: Any) -> str:
        return ""

    def visit_unique_constraint(self, constraint: schema.UniqueConstraint, **kw: Any) -> str:
        raise CompileError(f"Table {constraint.table.name}: a Hudi table has no UNIQUE constraint other than its key")

    def visit_foreign_key_constraint(self, constraint: schema.ForeignKeyConstraint, **kw: Any) -> str:
        raise CompileError(f"Table {constraint.table.name}: a Hudi table has no foreign keys")

    def visit_check_constraint(self, constraint: schema.CheckConstraint, **kw: Any) -> str:
        raise CompileError("A Hudi table has no CHECK constraints")

    def post_create_table(self, table: schema.Table) -> str:
        options = dict(table.dialect_options["hoodie"])
        properties = {str(name): str(value) for name, value in (options["properties"] or {}).items()}
        keys = [column.name for column in table.primary_key.columns]
        if keys:
            properties.setdefault("primaryKey", ",".join(keys))
        words = [" USING hudi"]
        if properties:
            pairs = ", ".join(f"{_text(name)} = {_text(value)}" for name, value in properties.items())
            words.append(f"TBLPROPERTIES ({pairs})")
        if options["partitioned_by"]:
            columns = ", ".join(self.preparer.quote(name) for name in options["partitioned_by"])
            words.append(f"PARTITIONED BY ({columns})")
        return " ".join(words)

    def get_column_specification(self, column: schema.Column[Any], **kwargs: Any) -> str:
        if column.server_default is not None or column.computed is not None or column.identity is not None:
            raise CompileError(f"Column {column.name}: a Hudi table computes no values of columns")
        name, kind = self.preparer.format_column(column), self.dialect.type_compiler_instance.process(column.type)
        return f"{name} {kind}" if column.nullable or column.primary_key else f"{name} {kind} NOT NULL"


class HoodieDialect(default.DefaultDialect):
    """Spark's SQL, as `hoodie.sql` takes it."""

    name = "hoodie"
    driver = "hoodie"
    default_paramstyle = "qmark"
    statement_compiler = compiler.SQLCompiler
    ddl_compiler = _Definitions
    type_compiler_cls = _Types
    preparer: type[compiler.IdentifierPreparer] = _Identifiers
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_multivalues_insert = True
    supports_default_values = False
    supports_empty_insert = False
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    supports_alter = False
    supports_sequences = False
    postfetch_lastrowid = False
    insert_returning = False
    construct_arguments = [(schema.Table, {"properties": None, "partitioned_by": None})]  # noqa: RUF012 - as SQLAlchemy has it

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module that makes the connections."""
        return dbapi

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of `hoodie.dbapi.connect`."""
        options = {name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()}
        database = options.pop("database", None)
        return [url.database], {"database": database, "options": options}

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Nothing: SQLAlchemy asks for it each time that a connection goes back to its pool."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        """A connection is a part of this process."""
        return True

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        """Each statement sees what was committed when it began."""
        return "AUTOCOMMIT"

    def _get_default_schema_name(self, connection: Connection) -> str:
        return _session(connection).database

    @reflection.cache
    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        """The databases."""
        return _session(connection).catalog.databases()

    @reflection.cache
    def get_table_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """The tables of a database."""
        session = _session(connection)
        return [table.name for table in session.catalog.tables(schema or session.database)]

    def get_view_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """None."""
        return []

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        """Return whether the catalog has the table."""
        try:
            _opened(connection, table_name, schema)
        except NoSuchTableError:
            return False
        return True

    def get_columns(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """The columns of a table, in its order."""
        table = _opened(connection, table_name, schema)
        return [
            {
                "name": field.name,
                "type": _type(field.type),
                "nullable": field.nullable,
                "default": None,
                "comment": _comment(field),
            }
            for field in table.schema
        ]

    def get_pk_constraint(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """The record key."""
        fields = _opened(connection, table_name, schema).properties.record_key_fields
        return {"constrained_columns": list(fields), "name": None}

    def get_foreign_keys(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """None."""
        return []

    def get_indexes(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """None."""
        return []


_KINDS: tuple[tuple[Any, type[types.TypeEngine[Any]]], ...] = (
    (pa.types.is_boolean, types.Boolean),
    (pa.types.is_int64, types.BigInteger),
    (pa.types.is_integer, types.Integer),
    (pa.types.is_float64, types.Double),
    (pa.types.is_floating, types.Float),
    (pa.types.is_string, types.Text),
    (pa.types.is_large_string, types.Text),
    (pa.types.is_date, types.Date),
    (pa.types.is_binary, types.LargeBinary),
    (pa.types.is_fixed_size_binary, types.LargeBinary),
)


def _type(kind: pa.DataType) -> types.TypeEngine[Any]:
    if pa.types.is_decimal(kind):
        return types.Numeric(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return types.DateTime(timezone=kind.tz is not None)
    if pa.types.is_dictionary(kind):
        return _type(kind.value_type)
    return next((kind_type() for is_kind, kind_type in _KINDS if is_kind(kind)), types.NullType())


def _comment(field: pa.Field) -> str | None:
    comment = (field.metadata or {}).get(b"comment")
    return None if comment is None else comment.decode()


def _session(connection: Connection) -> Session:
    return cast(dbapi.Connection, connection.connection.dbapi_connection).session


def _opened(connection: Connection, name: str, database: str | None) -> HoodieTable:
    session = _session(connection)
    try:
        return session.open(session.entry(exp.table_(name, database)))
    except TableNotFoundError as error:
        raise NoSuchTableError(name) from error


def _text(value: str) -> str:
    return str(exp.Literal.string(value).sql(dialect="spark"))


# If the package is not installed but on the path, importing this module makes the name known.
registry.register("hoodie", __name__, HoodieDialect.__name__)
