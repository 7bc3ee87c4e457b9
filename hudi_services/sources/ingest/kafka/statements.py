"""Statements among the messages of a topic, such as TRUNCATE: they change rows without saying which."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from hoodie.errors import SourceError
from hudi_services.sources.cdc.messages.contract import Statement
from hudi_services.sources.cdc.mysql.binlog import transactions
from hudi_services.sources.cdc.mysql.definition import LoadedTable, effect_on
from hudi_services.sources.cdc.mysql.position import LogPosition

_PATTERN = set("*?[")


def stopping(statements: Sequence[Statement], table: str | None, known: pa.Schema | None) -> Statement | None:
    """The first statement after which rows of the table may not be those of its source.

    Without `table` (DATABASE.TABLE) the topic has one table, and every statement is about it. So it may be with a pattern.
    """
    if table is None or _PATTERN & set(table):
        return next(iter(statements), None)
    database, _, name = table.partition(".")
    loaded = LoadedTable(database, name, tuple(known.names) if known is not None else ())
    return next((statement for statement in statements if effect_on(_as_logged(statement, database), loaded)), None)


def stopped(name: str, statement: Statement, messages: pa.Table) -> SourceError:
    """The load cannot go on past this statement."""
    partition, offset = (messages[column][statement.number].as_py() for column in ("partition", "offset"))
    return SourceError(
        f"A statement in {name} may have changed rows without saying which",
        found=f"{statement.text[:200]!r} in partition {partition}, offset {offset}. Changes before it are in the table",
        fix="do the same to the table, or have the source send a snapshot. Then go on past it with `statements: skip` of the "
        "source (`--statements skip`)",
    )


def _as_logged(statement: Statement, database: str) -> transactions.Statement:
    return transactions.Statement(LogPosition("", statement.number), 0, database, statement.text)
