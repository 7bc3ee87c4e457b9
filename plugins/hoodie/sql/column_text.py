"""Texts in double quotes that are meant as columns: Spark reads "zip" as a text, other databases as the column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from hoodie.errors import SqlError
from hoodie.sql.parse import Statement, tokens

_COMPARISONS = (exp.Binary, exp.Between, exp.In)
_LISTS = (exp.Select, exp.Group, exp.Ordered)


def refuse_column_texts(statement: Statement, columns: Callable[[], Iterable[str]]) -> None:
    """Raises SqlError for a text in double quotes with the name of one of the tables' `columns`, where a text makes no sense: in
    a comparison that has no column, and as an item of SELECT, GROUP BY and ORDER BY. Items with a name of their own, and those
    that are inserted, may be constants.

    `columns` is called only if there is such a text.
    """
    if '"' not in statement.text:
        return
    quoted = {
        token.text
        for token in tokens(statement.text)
        if token.token_type is TokenType.STRING and statement.text[token.start] == '"'
    }
    constants = [text for text in _constants(statement.tree) if text in quoted]
    if not constants:
        return
    names = {name.lower() for name in columns()}
    for text in constants:
        if text.lower() in names:
            raise SqlError(
                f'"{text}" is a text, and the statement has it in place of a column',
                found="double quotes, which make texts in Spark's SQL",
                fix=f"write `{text}` in backticks for the column, or '{text}' for the text; nothing was changed",
            )


def _constants(tree: exp.Expression) -> Iterator[str]:
    """Texts that are compared with other constants, or are items by themselves."""
    for literal in tree.find_all(exp.Literal):
        if not literal.is_string:
            continue
        parent = literal.parent
        while isinstance(parent, (exp.Paren, exp.Not)):
            parent = parent.parent
        compares = isinstance(parent, _COMPARISONS) and parent.find(exp.Column, exp.Query) is None
        if compares or (isinstance(parent, _LISTS) and not isinstance(parent.parent, exp.Insert)):
            yield literal.name
