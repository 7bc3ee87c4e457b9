"""ALTER TABLE, as Hudi's Spark SQL has it: columns in one commit of the table, name and options in the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.service_options import own_options
from hoodie.errors import SqlError, TableExistsError
from hoodie.schema.changes import AddColumn, RenameColumn
from hoodie.sql.alter_text import Altering, altering
from hoodie.sql.catalog import Entry
from hoodie.sql.declaration import sorted_out
from hoodie.sql.names import checked_name, refuse_own
from hoodie.sql.parse import Statement
from hoodie.sql.result import Result
from hoodie.sql.session import Session, is_of_sql

_COMMENT = "comment"
_DROPS = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"


def alter_table(session: Session, statement: Statement) -> Result | None:
    """Run the statement; None if the catalog does not have its table. Raises SqlError, and what `HoodieTable.alter` raises."""
    altered = altering(statement.text)
    if session.is_of_engine(altered.table):
        return None
    entry = session.entry(altered.table)
    if altered.columns:
        refuse_own(_new_names(altered), "choose another name for the column")
        options = session.write_options(entry)
        options.pop(_DROPS, None)  # Hudi drops and renames only with it; of a write it asks for something else
        result = session.open(entry).alter(altered.columns, options)
        return Result.of_message(f"table {entry.name}: columns changed by {result.instant.time}", result.services)
    return _rename(session, entry, altered) if altered.name is not None else _options(session, entry, altered)


def _new_names(altered: Altering) -> Iterator[str]:
    for change in altered.columns:
        if isinstance(change, AddColumn):
            yield change.name
        elif isinstance(change, RenameColumn):
            yield change.to


def _rename(session: Session, entry: Entry, altered: Altering) -> Result:
    assert altered.name is not None
    name = session.named(altered.name)
    if not altered.name.db:
        name = replace(name, database=entry.name.database)
    checked_name(name.name, "table")
    if name.database != entry.name.database:
        raise SqlError(f"Table {entry.name} cannot go to another database", found=str(name), fix="keep the database")
    if session.catalog.find(name) is not None:
        raise TableExistsError(f"There is a table {name}", fix="drop it, or choose another name")
    session.catalog.location_of(name, entry.location)
    if entry.managed:
        raise SqlError(
            f"Table {entry.name} cannot be renamed: it is named by its folder in the warehouse",
            found=entry.location,
            fix=f"CREATE TABLE {name} USING hudi AS SELECT * FROM {entry.name}; tables with a LOCATION are renamed",
        )
    session.catalog.rename(entry, name)
    return Result.of_message(f"table {entry.name} is called {name} now")


def _options(session: Session, entry: Entry, altered: Altering) -> Result:
    comment, options = entry.comment, dict(entry.options)
    for key, value in altered.options.items():
        if key.lower() == _COMMENT:
            comment = value
        elif value is not None:
            options[key] = value
        elif options.pop(key, None) is None and not altered.lenient:
            raise SqlError(
                f"Table {entry.name} has no option {key}",
                found=", ".join(sorted(entry.options)) or "no options",
                fix="say UNSET TBLPROPERTIES IF EXISTS",
            )
    _check(
        entry, {key: value for key, value in altered.options.items() if value is not None and key.lower() != _COMMENT}
    )
    session.catalog.change(replace(entry, comment=comment, options=options))
    return Result.of_message(
        f"table {entry.name}: {', '.join(altered.options)} {'set' if any(altered.options.values()) else 'gone'}"
    )


def _check(entry: Entry, options: dict[str, str]) -> None:
    creation_options, written = sorted_out(options, [])
    if creation_options:
        raise SqlError(
            f"Option {next(iter(creation_options))} of table {entry.name} cannot change",
            found="the table was made with it",
            fix="make another table",
        )
    own_options({key: value for key, value in written.items() if not is_of_sql(key)}, WRITE_OPTIONS)
