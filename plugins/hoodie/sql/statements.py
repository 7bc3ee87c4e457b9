"""Each kind of statement, and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.alter import alter_table
from hoodie.sql.catalog import DEFAULT_DATABASE, Entry
from hoodie.sql.changes import refuse_more
from hoodie.sql.column_text import refuse_column_texts
from hoodie.sql.create import create, database_name, refuse_unread
from hoodie.sql.describe import describe, describe_column
from hoodie.sql.dml import delete_rows, merge_rows, update_rows, write_message
from hoodie.sql.explanation import explain
from hoodie.sql.index_statements import refuse_index_statement
from hoodie.sql.inserts import empty_partitions, insert_rows
from hoodie.sql.literal_casts import refuse_failed_casts
from hoodie.sql.maintenance import MAINTENANCE
from hoodie.sql.names import checked_name, refuse_own_aliases, tables_read
from hoodie.sql.parse import DIALECT, SETTING, Statement, shortened
from hoodie.sql.procedures.call import call_procedure
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.sql.show import show

_OF_DROP = {"this", "exists", "tables", "kind", "purge", "cascade", "restrict"}
"""Parts of a DROP of Hudi tables. Others, such as TEMPORARY, are about something else."""
_TRANSACTION = re.compile(r"\s*(BEGIN|START\s+TRANSACTION|ROLLBACK|ABORT)\b", re.IGNORECASE)
"""Statements that the engine would take for its own tables, while Hudi tables keep what is written."""


def run_statement(session: Session, statement: Statement) -> Result:
    """Result of one statement. Raises SqlError, and what the library raises."""
    refuse_index_statement(session, statement)
    _refuse_transaction(statement)
    refuse_own_aliases(statement.tree)
    _refuse_select_into(statement)
    refuse_column_texts(statement, partial(_columns, session, statement.tree))
    run = _KINDS.get(type(statement.tree))
    if run is not None:
        return run(session, statement)
    if not isinstance(statement.tree, exp.Query):
        return _untouched(session, statement)
    try:
        if session.reads(statement.tree):
            return Result(session.fetched(statement.tree))
        _check_tables(session, statement.tree)
        return _untouched(session, statement)
    except SqlError as error:
        others = _others(session, statement.tree)
        if not others:
            raise
        raise SqlError(error.what, found="; ".join(filter(None, [error.found, *others])), fix=error.fix) from error


def _columns(session: Session, tree: exp.Expression) -> Iterator[str]:
    """The names of the columns of all Hudi tables that a statement names."""
    for table in tree.find_all(exp.Table):
        if session.is_known(table):
            schema = session.open(session.entry(table)).stored_schema
            yield from schema.names if schema is not None else ()


def _refuse_transaction(statement: Statement) -> None:
    if _TRANSACTION.match(statement.text):
        raise SqlError(
            f"There are no transactions of several statements: {shortened(statement.text)}",
            found="each statement that changes a table is a commit of its own",
            fix="leave this statement out; `hudi-services rollback` takes a commit back",
        )


def _refuse_select_into(statement: Statement) -> None:
    into = statement.tree.find(exp.Into)
    if into is not None:
        raise SqlError(
            f"A table or view would be gone with the connection: {shortened(statement.text)}",
            found=f"SELECT … {into.sql(dialect=DIALECT)}, which is not of Spark's SQL",
            fix="write CREATE TABLE … USING hudi AS SELECT …, or say CREATE TEMPORARY TABLE; nothing was made",
        )


def _others(session: Session, query: exp.Expression) -> list[str]:
    """The tables of a query in the catalog that are not Hudi tables."""
    names = [session.named(table) for table in tables_read(query) if not session.is_of_engine(table)]
    return [
        f"table {name} in {session.catalog.path} is not a Hudi table: {other}"
        for name in names
        if (other := session.catalog.other(name)) is not None
    ]


def _untouched(session: Session, statement: Statement) -> Result:
    rows = session.engine.run(statement)
    return Result(rows) if rows.num_columns else Result.of_message("done")


def _check_tables(session: Session, query: exp.Expression) -> None:
    """Raises for a table that neither the catalog nor the engine knows, naming the existing ones."""
    for table in tables_read(query):
        if not session.engine.has(table.name) and not table.db and re.fullmatch(r"\w+", table.name):
            session.entry(table)


def _create(session: Session, statement: Statement) -> Result:
    if isinstance(statement.tree.expression, exp.Query):
        refuse_failed_casts(session, statement.tree.expression)
    result = create(session, statement)
    return _untouched(session, statement) if result is None else result


def _drop(session: Session, statement: Statement) -> Result:
    tree = statement.tree
    messages = []
    if tree.args["kind"] in ("DATABASE", "SCHEMA"):
        name = database_name(tree.args["tables"][0])
        if name == DEFAULT_DATABASE:
            raise SqlError("The database default is always there", fix="drop its tables")
        databases = session.catalog.databases()
        session.catalog.drop_database(name, cascade=bool(tree.args.get("cascade")))
        if name not in databases and not tree.args.get("exists"):
            raise SqlError(
                f"There is no database {name}", found=", ".join(databases), fix="correct the name, or say IF EXISTS"
            )
        return Result.of_message(f"database {name} is gone")
    if tree.args["kind"] != "TABLE" or not any(map(session.is_known, tree.args["tables"])):
        if tree.args["kind"] == "TABLE" and not any(session.engine.has(table.name) for table in tree.args["tables"]):
            table = tree.args["tables"][0]
            if tree.args.get("exists") and session.catalog.other(session.named(table)) is None:
                return Result.of_message("there is no such table")
            session.entry(table)
        return _untouched(session, statement)
    refuse_more(tree, _OF_DROP)
    for entry in _dropped(session, tree):
        session.catalog.drop(entry)
        files = (
            "and its files are" if entry.managed else f"is forgotten; its files stay at {entry.location}, the name is"
        )
        messages.append(f"table {entry.name} {files} gone")
    return Result.of_message("; ".join(messages))


def _dropped(session: Session, tree: exp.Drop) -> list[Entry]:
    """The tables of a DROP TABLE, each once. Raises SqlError, and TableNotFoundError, before one of them is gone."""
    entries = {}
    for table in tree.args["tables"]:
        if session.is_of_engine(table):
            raise SqlError(
                f"{table.name} is a table of {session.engine.name}, and others of this DROP TABLE are Hudi tables",
                fix="drop it by a statement of its own; nothing was dropped",
            )
        name = session.named(table)
        is_absent = session.catalog.find(name) is None and session.catalog.other(name) is None
        if not (is_absent and tree.args.get("exists")):
            entries[name] = session.entry(table)
    return list(entries.values())


def _changed(
    change: Callable[[Session, Entry, exp.Expression, exp.Table], Result],
) -> Callable[[Session, Statement], Result]:
    def run(session: Session, statement: Statement) -> Result:
        node = statement.tree.this
        node = node.this if isinstance(node, exp.Schema) else node
        if not isinstance(node, exp.Table):
            return _no_table(session, statement, node)
        if not session.is_known(node):
            return _no_target(session, statement, node)
        refuse_failed_casts(session, statement.tree)
        return change(session, session.written(node), statement.tree, node)

    return run


def _no_table(session: Session, statement: Statement, node: object) -> Result:
    """For a folder, a function or a query in place of a table. Spark writes rows of its own tables to a folder."""
    if session.engine.is_lasting and not session.reads(statement.tree):
        return _untouched(session, statement)
    raise SqlError(
        f"A statement changes something else than a table: {shortened(statement.text)}",
        found=node.sql(dialect=DIALECT) if isinstance(node, exp.Expression) else "no name of one",
        fix="name a table; write files from the rows of a SELECT, such as by --json, or by Result.table in Python",
    )


def _no_target(session: Session, statement: Statement, node: exp.Table) -> Result:
    if not session.engine.has(node.name):
        session.entry(node)
    if session.reads(statement.tree):
        raise SqlError(
            f"{node.name} is not a Hudi table, and rows of Hudi tables cannot be written to it here",
            fix="create it with USING hudi",
        )
    return _untouched(session, statement)


def _describe(session: Session, statement: Statement) -> Result:
    described = describe(session, statement)
    return _untouched(session, statement) if described is None else described


def _use(session: Session, statement: Statement) -> Result:
    name = checked_name(statement.tree.this.name, "database")
    session.use(name)
    return Result.of_message(f"database {name} is in use")


def _truncate(session: Session, statement: Statement) -> Result:
    nodes = statement.tree.expressions
    other = next((node for node in nodes if not isinstance(node, exp.Table)), None)
    if other is not None:
        return _no_table(session, statement, other)
    if not any(map(session.is_known, nodes)):
        return _no_target(session, statement, nodes[0])
    entries = [session.written(node) for node in nodes]
    clause = statement.tree.args.get("partition")
    if clause is not None:
        if len(entries) > 1:
            raise SqlError("TRUNCATE … PARTITION names several tables", fix="name one; nothing was changed")
        return empty_partitions(session, entries[0], clause, nodes[0])
    results = [write_message(session.open(entry).truncate(session.write_options(entry))) for entry in entries]
    services = tuple(service for result in results for service in result.services)
    return replace(Result.of_message("; ".join(str(result.message) for result in results)), services=services)


def _set(session: Session, statement: Statement) -> Result:
    match = SETTING.fullmatch(statement.text.strip())
    if match is None:
        return _untouched(session, statement)
    session.options[match[1]] = match[2].strip().strip("'\"")
    return Result.of_message(f"{match[1]} = {session.options[match[1]]}")


def _command(session: Session, statement: Statement) -> Result:
    word, argument = statement.tree.name.upper(), statement.tree.args.get("expression")
    if word == "CALL" and argument is not None:
        return call_procedure(session, argument)
    if word == "EXPLAIN" and argument is not None:
        return explain(session, argument)
    if word in MAINTENANCE and argument is not None:
        return MAINTENANCE[word](session, argument.name)
    result = None
    if word == "SHOW" and argument is not None:
        result = show(session, argument.name)
    elif word == "DESCRIBE":
        result = describe_column(session, statement.text)
    elif word == "ALTER":
        result = alter_table(session, statement)
    elif word == "CREATE" and argument is not None:
        refuse_unread(session, statement, str(argument))
    return _untouched(session, statement) if result is None else result


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
