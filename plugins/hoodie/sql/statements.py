"""Each kind of statement, and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError, TableExistsError
from hoodie.sql import declared as declarations
from hoodie.sql.alter import alter_table
from hoodie.sql.catalog import DEFAULT_DATABASE, Entry
from hoodie.sql.describe import describe, describe_column
from hoodie.sql.dml import delete_rows, merge_rows, told, update_rows
from hoodie.sql.index_statements import refuse_index_statement
from hoodie.sql.inserts import empty_partitions, fill, insert_rows, without_meta
from hoodie.sql.names import checked_name, tables_read
from hoodie.sql.parse import SETTING, Statement, shortened
from hoodie.sql.procedures.calling import call_procedure
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.sql.shows import show
from hoodie.table import HoodieTable


def run_statement(session: Session, statement: Statement) -> Result:
    """What one statement gives. Raises SqlError, and what the library raises."""
    refuse_index_statement(session, statement)
    run = _KINDS.get(type(statement.tree))
    if run is not None:
        return run(session, statement)
    if not isinstance(statement.tree, exp.Query):
        return _untouched(session, statement)
    try:
        if session.reads(statement.tree):
            return Result(session.rows(statement.tree).fetched())
        _check_tables(session, statement.tree)
        return _untouched(session, statement)
    except SqlError as error:
        others = _others(session, statement.tree)
        if not others:
            raise
        raise SqlError(error.what, found="; ".join(filter(None, [error.found, *others])), fix=error.fix) from error


def _others(session: Session, query: exp.Expression) -> list[str]:
    """The tables of a query that the catalog has, and that are none of Hudi's."""
    names = [session.named(table) for table in tables_read(query) if not session.is_of_engine(table)]
    return [
        f"table {name} in {session.catalog.path} is none of Hudi's: {other}"
        for name in names
        if (other := session.catalog.other(name)) is not None
    ]


def _untouched(session: Session, statement: Statement) -> Result:
    rows = session.engine.run(statement.text, statement.parameters)
    return Result(rows) if rows.num_columns else Result.told("done")


def _check_tables(session: Session, query: exp.Expression) -> None:
    """A table that neither the catalog nor the engine knows is told with the names that there are."""
    for table in tables_read(query):
        if not session.engine.has(table.name) and not table.db and re.fullmatch(r"\w+", table.name):
            session.entry(table)


def _create(session: Session, statement: Statement) -> Result:
    tree = statement.tree
    if tree.args["kind"] in ("DATABASE", "SCHEMA"):
        session.catalog.create_database(checked_name(tree.this.name, "database"))
        return Result.told(f"database {tree.this.name.lower()} is there")
    if tree.args["kind"] != "TABLE" or not declarations.is_of_hudi(tree):
        query = tree.args.get("expression")
        if query is not None and session.reads(query):
            raise SqlError(
                f"What is made of a Hudi table here has to be one, too: {shortened(statement.text)}",
                fix="say CREATE TABLE … USING hudi AS SELECT …",
            )
        return _untouched(session, statement)
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = session.named(node)
    checked_name(name.name, "table")
    if session.catalog.find(name) is not None:
        if tree.args.get("exists"):
            return Result.told(f"table {name} is there")
        raise TableExistsError(f"There is a table {name}", fix="drop it, choose another name, or say IF NOT EXISTS")
    if name.database not in session.catalog.databases():
        raise SqlError(f"There is no database {name.database}", fix=f"CREATE DATABASE {name.database}")
    told = declarations.declared(tree, name.name)
    entry = Entry(
        name,
        session.catalog.location_of(name, told.location),
        told.location is None,
        told.write_options,
        told.comment,
    )
    query = tree.args.get("expression")
    if query is not None and told.schema is not None:
        raise SqlError("A table that is made of a query has that one's columns", fix="leave out the columns")
    rows = without_meta(session.rows(query)) if query is not None else None
    if rows is None and told.schema is None:
        HoodieTable.open(entry.location)  # one that is there is entered under a name
    else:
        if rows is not None:
            rows = rows.selected(_partitions_last(rows.schema, told.create_options))
        schema = told.schema if rows is None else pa.schema([field.with_nullable(True) for field in rows.schema])
        try:
            HoodieTable.create(entry.location, told.create_options, schema)
        except TableExistsError as error:
            raise TableExistsError(
                error.what,
                found=error.found,
                fix=f"CREATE TABLE {name} USING hudi LOCATION '{entry.location}', without columns, enters that one; a new one "
                "wants another LOCATION",
            ) from error
    session.catalog.remember(entry)
    if rows is None:
        return Result.told(f"table {name} is made at {entry.location}")
    written = fill(session, entry, rows)
    return replace(written, message=f"table {name} is made at {entry.location}; {written.message}")


def _partitions_last(schema: pa.Schema, options: dict[str, str]) -> list[str]:
    """The columns in the order of a table. Raises SqlError when a partition column is not among them."""
    there = {name.lower(): name for name in schema.names}
    partitions = [name for name in options.get("hoodie.table.partition.fields", "").split(",") if name]
    lacking = [name for name in partitions if name.lower() not in there]
    if lacking:
        raise SqlError(
            f"The query gives no partition column {lacking[0]}", found=", ".join(schema.names), fix="select it, too"
        )
    last = [there[name.lower()] for name in partitions]
    return [*(name for name in schema.names if name not in last), *last]


def _drop(session: Session, statement: Statement) -> Result:
    tree = statement.tree
    done = []
    if tree.args["kind"] in ("DATABASE", "SCHEMA"):
        name = checked_name(tree.args["tables"][0].name, "database")
        if name == DEFAULT_DATABASE:
            raise SqlError("The database default is always there", fix="drop its tables")
        session.catalog.drop_database(name, cascade=bool(tree.args.get("cascade")))
        return Result.told(f"database {name} is gone")
    if tree.args["kind"] != "TABLE" or not any(map(session.is_known, tree.args["tables"])):
        if tree.args["kind"] == "TABLE" and not any(session.engine.has(table.name) for table in tree.args["tables"]):
            table = tree.args["tables"][0]
            if tree.args.get("exists") and session.catalog.other(session.named(table)) is None:
                return Result.told("there is no such table")
            session.entry(table)
        return _untouched(session, statement)
    for table in tree.args["tables"]:
        entry = session.entry(table)
        session.catalog.drop(entry)
        files = (
            "and its files are" if entry.managed else f"is forgotten; its files stay at {entry.location}, the name is"
        )
        done.append(f"table {entry.name} {files} gone")
    return Result.told("; ".join(done))


def _changed(
    change: Callable[[Session, Entry, exp.Expression, exp.Table], Result],
) -> Callable[[Session, Statement], Result]:
    def run(session: Session, statement: Statement) -> Result:
        node = statement.tree.this
        node = node.this if isinstance(node, exp.Schema) else node
        if not session.is_known(node):
            return _no_target(session, statement, node)
        return change(session, session.written(node), statement.tree, node)

    return run


def _no_target(session: Session, statement: Statement, node: exp.Table) -> Result:
    if not session.engine.has(node.name):
        session.entry(node)
    if session.reads(statement.tree):
        raise SqlError(
            f"{node.name} is no Hudi table, and rows of Hudi tables cannot be written to it here",
            fix="create it with USING hudi",
        )
    return _untouched(session, statement)


def _describe(session: Session, statement: Statement) -> Result:
    told = describe(session, statement)
    return _untouched(session, statement) if told is None else told


def _use(session: Session, statement: Statement) -> Result:
    name = checked_name(statement.tree.this.name, "database")
    session.use(name)
    return Result.told(f"database {name} is in use")


def _truncate(session: Session, statement: Statement) -> Result:
    nodes = statement.tree.expressions
    if not any(map(session.is_known, nodes)):
        return _no_target(session, statement, nodes[0])
    entries = [session.written(node) for node in nodes]
    clause = statement.tree.args.get("partition")
    if clause is not None:
        return empty_partitions(session, entries[0], clause, nodes[0])
    done = [told(session.open(entry).truncate(session.write_options(entry))) for entry in entries]
    services = tuple(service for each in done for service in each.services)
    return replace(Result.told("; ".join(str(each.message) for each in done)), services=services)


def _set(session: Session, statement: Statement) -> Result:
    found = SETTING.fullmatch(statement.text.strip())
    if found is None:
        return _untouched(session, statement)
    session.options[found[1]] = found[2].strip().strip("'\"")
    return Result.told(f"{found[1]} = {session.options[found[1]]}")


def _command(session: Session, statement: Statement) -> Result:
    word, rest = statement.tree.name.upper(), statement.tree.args.get("expression")
    if word == "CALL":
        return call_procedure(session, rest)
    shown = None
    if word == "SHOW" and rest is not None:
        shown = show(session, rest.name)
    elif word == "DESCRIBE":
        shown = describe_column(session, statement.text)
    elif word == "ALTER":
        shown = alter_table(session, statement)
    return _untouched(session, statement) if shown is None else shown


_KINDS: dict[type[exp.Expression], Callable[[Session, Statement], Result]] = {
    exp.Create: _create,
    exp.Drop: _drop,
    exp.Insert: _changed(insert_rows),
    exp.Update: _changed(update_rows),
    exp.Delete: _changed(delete_rows),
    exp.Merge: _changed(merge_rows),
    exp.Describe: _describe,
    exp.Use: _use,
    exp.Set: _set,
    exp.TruncateTable: _truncate,
    exp.Command: _command,
}
