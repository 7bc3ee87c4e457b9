"""CREATE, DROP, REFRESH INDEX and SHOW INDEXES: refused by name, as Hudi keeps these indexes in its metadata table."""

from __future__ import annotations

import re

from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.parse import DIALECT, Statement
from hoodie.sql.session import Session

_NAME = r"(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*"
_STATEMENT = re.compile(
    rf"(?:(?P<verb>CREATE|DROP|REFRESH)\s+INDEX\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?{_NAME}\s+ON\s+(?:TABLE\s+)?"
    rf"|SHOW\s+INDEXES\s+(?:FROM|IN)\s+(?:TABLE\s+)?)(?P<table>{_NAME})",
    re.IGNORECASE,
)


def refuse_index_statement(session: Session, statement: Statement) -> None:
    """Raises SqlError where the statement is about an index of a Hudi table. Others are the engine's."""
    match = _STATEMENT.match(statement.text.strip())
    if match is None:
        return
    table = exp.to_table(match["table"], dialect=DIALECT)
    if not session.is_known(table):
        return
    statement_name = f"{match['verb'].upper()} INDEX" if match["verb"] else "SHOW INDEXES"
    raise SqlError(
        f"{statement_name} is not supported for Hudi tables, such as {session.named(table)}",
        found="Hudi keeps such indexes in its metadata table, which this library neither writes nor reads",
        fix="hoodie.index.type says how writes find rows (SET, TBLPROPERTIES); for queries sort the files, CALL run_clustering",
    )
