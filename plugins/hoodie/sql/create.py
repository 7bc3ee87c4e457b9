"""CREATE: databases, Hudi tables, and what is left to the engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from hoodie.clock import SystemClock
from hoodie.config import CREATE_KEYS, own_options, select_keys
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.keys import table as table_keys
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.properties.table import TableProperties
from hoodie.errors import SqlError, TableExistsError, TableNotFoundError
from hoodie.sql.catalog import Entry
from hoodie.sql.declaration import Declared, declared, is_of_hudi, is_temporary
from hoodie.sql.inserts import fill, without_meta
from hoodie.sql.leftovers import OF_QUERY, is_unfilled
from hoodie.sql.names import checked_name, refuse_own
from hoodie.sql.parse import DIALECT, Statement, shortened
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.storage import storage_of
from hoodie.table import HoodieTable
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.create import create_table, new_properties, recreate_table
from hoodie.transaction.locks import Locking

_COMPARED: Mapping[ConfigKey[Any], Callable[[TableProperties], object]] = {
    table_keys.TYPE: lambda table: "MERGE_ON_READ" if table.is_merge_on_read else "COPY_ON_WRITE",
    table_keys.RECORD_KEY_FIELDS: lambda table: ", ".join(table.record_key_fields),
    table_keys.PARTITION_FIELDS: lambda table: ", ".join(table.partition_fields),
    table_keys.ORDERING_FIELDS: lambda table: ", ".join(table.ordering_fields),
}
_SHARED_KEYS = (*LOCK_KEYS, *SHARING_KEYS)
_STORES_ROWS = ("TABLE", "VIEW")
_UNREAD = re.compile(rf"\s*(OR\s+REPLACE\s+)?(?!TEMP)(\w+\s+)?({'|'.join(_STORES_ROWS)})\b", re.IGNORECASE)
"""The text after CREATE of a lasting table or view, in statements that the parser keeps as text."""


def create(session: Session, statement: Statement) -> Result | None:
    """Run a CREATE; None for one that the engine runs, such as that of a temporary view.

    Raises SqlError and what the library raises, also for a table or view that would be gone with the connection.
    """
    tree = statement.tree
    if tree.args["kind"] in ("DATABASE", "SCHEMA"):
        return _create_database(session, tree)
    if tree.args["kind"] == "TABLE" and is_of_hudi(tree):
        return _create_table(session, tree)
    query = tree.args.get("expression")
    if query is not None and session.reads(query):
        raise SqlError(
            f"A table or view of rows of Hudi tables has to be a Hudi table: {shortened(statement.text)}",
            fix="say CREATE TABLE … USING hudi AS SELECT …",
        )
    if tree.args["kind"] in _STORES_ROWS and not is_temporary(tree):
        _refuse_forgotten(session, statement)
    return None


def refuse_unread(session: Session, statement: Statement, tail: str) -> None:
    """Raises SqlError for a CREATE TABLE or VIEW that is not understood, where the engine would forget what it makes of it."""
    if _UNREAD.match(tail):
        _refuse_forgotten(session, statement)


def _refuse_forgotten(session: Session, statement: Statement) -> None:
    if not session.engine.is_lasting:
        raise SqlError(
            f"A table or view would be gone with the connection: {shortened(statement.text)}",
            found=f"{session.engine.name} would keep it in memory",
            fix="write a table as CREATE TABLE … USING hudi, or say CREATE TEMPORARY TABLE or VIEW; nothing was made",
        )


def database_name(named: exp.Table) -> str:
    """Return the name of a database in CREATE or DROP. Raises SqlError, also for one with a catalog before it."""
    if named.catalog or (named.name and named.db):
        raise SqlError(
            f"A database is named with its catalog: {named.sql(dialect=DIALECT)}",
            found="this statement is about the catalog in use, and nothing was changed",
            fix=f"USE CATALOG {named.catalog or named.db}, then name the database alone",
        )
    return checked_name(named.name or named.db, "database")


def _create_database(session: Session, tree: exp.Create) -> Result:
    name = database_name(tree.this)
    properties = tree.args.get("properties")
    for expression in properties.expressions if properties is not None else ():
        if not isinstance(expression, exp.SchemaCommentProperty):
            raise SqlError(
                f"A database here has no {shortened(expression.sql(dialect=DIALECT))}",
                found=f"its tables are made in {session.catalog.path}",
                fix="leave this out, and give tables a LOCATION",
            )
    if not tree.args.get("exists") and name in session.catalog.databases():
        raise SqlError(f"Database {name} is there already", fix="say IF NOT EXISTS, or choose another name")
    session.catalog.create_database(name)
    return Result.of_message(f"database {name} is there")


def _create_table(session: Session, tree: exp.Create) -> Result:
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = session.named(node)
    checked_name(name.name, "table")
    if session.catalog.find(name) is not None:
        if tree.args.get("exists"):
            return Result.of_message(f"table {name} is there")
        raise TableExistsError(f"There is a table {name}", fix="drop it, choose another name, or say IF NOT EXISTS")
    if name.database not in session.catalog.databases():
        raise SqlError(f"There is no database {name.database}", fix=f"CREATE DATABASE {name.database}")
    declaration = declared(tree, name.name)
    location = storage_of(session.catalog.location_of(name, declaration.location)).base_path  # for other processes, too
    entry = Entry(name, location, declaration.location is None, declaration.write_options, declaration.comment)
    query = tree.args.get("expression")
    if query is not None and declaration.schema is not None:
        raise SqlError("A table that is made of a query has that one's columns", fix="leave out the columns")
    rows = without_meta(session.rows(query)) if query is not None else None
    if rows is None and declaration.schema is None:
        _check_there(entry, declaration.create_options)  # one that is there is entered under a name
    else:
        if rows is not None:
            rows = rows.selected(_partitions_last(rows.schema, declaration.create_options))
        schema = declaration.schema if rows is None else pa.schema([field.with_nullable(True) for field in rows.schema])
        _make(session, entry, declaration.create_options, schema, {} if rows is None else OF_QUERY)
    written = Result.of_message("") if rows is None else fill(session, entry, rows)
    session.catalog.remember(entry)  # when its rows are there
    parts = [f"table {name} is made at {entry.location}", _hint(declaration), written.message]
    return replace(written, message="; ".join(filter(None, parts)))


def _check_there(entry: Entry, options: Mapping[str, str]) -> None:
    """Raises TableNotFoundError for a CREATE TABLE without columns, and without a table that has some; SqlError for one that
    declares other keys, partitions or another type than the table has."""
    try:
        stored = HoodieTable.open(entry.location).properties
    except TableNotFoundError as error:
        raise TableNotFoundError(
            f"CREATE TABLE {entry.name} has no columns, and there is no table at {entry.location}",
            found=error.found,
            fix=f"declare columns: CREATE TABLE {entry.name} (id STRING, …) USING hudi TBLPROPERTIES (primaryKey = 'id'), or "
            "name the LOCATION of a table that is there",
        ) from error
    _refuse_other(entry, stored, options)


def _refuse_other(entry: Entry, stored: TableProperties, options: Mapping[str, str]) -> None:
    declared_properties = new_properties(select_keys(own_options(options, WRITE_OPTIONS), CREATE_KEYS))
    for key, of in _COMPARED.items():
        if (
            any(name in options for name in key.names)
            and str(of(declared_properties)).lower() != str(of(stored)).lower()
        ):
            raise SqlError(
                f"Table {entry.name} is declared otherwise than the one at {entry.location}",
                found=f"{key.name}: {of(declared_properties)}, and there {of(stored)}",
                fix="leave this out, as the table has its own, or name another LOCATION; nothing was changed",
            )


def _hint(declaration: Declared) -> str:
    """A remark on a table without a key; empty for one with a key, and for one that was there."""
    if "hoodie.table.recordkey.fields" in declaration.create_options or declaration.schema is None:
        return ""
    return "it has no key, so that INSERT only adds rows, and no row is updated: say TBLPROPERTIES (primaryKey = '…') for one"


def _make(
    session: Session, entry: Entry, options: Mapping[str, str], schema: pa.Schema, mark: Mapping[str, str]
) -> None:
    """Create the table, also in place of one that a query was to fill. Raises TableExistsError, and what creating raises."""
    refuse_own(schema.names, "choose another name for the column")
    storage, own = storage_of(entry.location), select_keys(own_options(options, WRITE_OPTIONS), CREATE_KEYS)
    if is_unfilled(storage):
        chosen = resolve(select_keys(session.write_options(entry), _SHARED_KEYS), _SHARED_KEYS)
        sharing = ConcurrencyOptions.of(chosen)
        recreate_table(storage, SystemClock(), own, mark, Locking.of(chosen), schema, sharing=sharing)
        return
    try:
        create_table(storage, own, schema, mark)
    except TableExistsError as error:
        raise TableExistsError(
            error.what,
            found=error.found,
            fix=f"CREATE TABLE {entry.name} USING hudi LOCATION '{entry.location}', without columns, enters that one; a new one "
            "wants another LOCATION",
        ) from error


def _partitions_last(schema: pa.Schema, options: dict[str, str]) -> list[str]:
    """The columns in the order of a table. Raises SqlError when a partition column is not among them."""
    columns = {name.lower(): name for name in schema.names}
    if len(columns) < len(schema.names):
        raise SqlError(
            "Two columns of the query have one name", found=", ".join(schema.names), fix="give each its own name by AS"
        )
    partitions = [name for name in options.get("hoodie.table.partition.fields", "").split(",") if name]
    lacking = [name for name in partitions if name.lower() not in columns]
    if lacking:
        raise SqlError(
            f"The query gives no partition column {lacking[0]}", found=", ".join(schema.names), fix="select it, too"
        )
    last = [columns[name.lower()] for name in partitions]
    return [*(name for name in schema.names if name not in last), *last]
