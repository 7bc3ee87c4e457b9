"""Names of columns that a query computes and gives no name: the text that the user wrote, as in Spark, on one line. Columns of a
query within another one have the same text as sqlglot writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from hoodie.sql.names import OWN

_WRITTEN = "hoodie_written"
_NAMED = exp.Alias | exp.Column | exp.Dot | exp.Literal | exp.Star
"""Columns that have a name of their own."""
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSED = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_ENDS = {
    TokenType.FROM,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.HAVING,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.UNION,
    TokenType.EXCEPT,
    TokenType.INTERSECT,
}
_QUANTIFIERS = {TokenType.DISTINCT, TokenType.ALL}


def mark_written(tree: exp.Expression, text: str, tokens: Sequence[Token]) -> None:
    """Note at the columns of a query how they are written in its `text`. Copies of the tree keep it."""
    select = _first_select(tree)
    if select is None:
        return
    spans = _spans(tokens)
    if len(spans) != len(select.expressions):
        return  # a form of a query whose columns are elsewhere
    for column, (first, last) in zip(select.expressions, spans, strict=True):
        column.meta[_WRITTEN] = " ".join(text[first.start : last.end + 1].split())


def with_written_names(rows: pa.Table, tree: exp.Expression) -> pa.Table:
    """The rows of a query with such names. A name that another column has stays that of the engine."""
    select = _first_select(tree)
    columns = select.expressions if select is not None else []
    stars = [place for place, column in enumerate(columns) if column.is_star]
    if len(stars) > 1 or (not stars and len(columns) != rows.num_columns):
        return rows
    names = list(rows.schema.names)
    for place, column in enumerate(columns):
        written = column.meta.get(_WRITTEN)
        if written is not None and not isinstance(column.unnest(), _NAMED):
            place_in_rows = place if not stars or place < stars[0] else place - len(columns) + rows.num_columns
            if written not in names and not _is_same(names[place_in_rows], written):
                names[place_in_rows] = written
    return rows.rename_columns(names)


def inner_columns(tree: exp.Expression) -> list[tuple[exp.Select, list[str]]]:
    """The SELECTs within a query, with the texts of their columns."""
    outer = _first_select(tree)
    inner = (select for select in tree.find_all(exp.Select) if select is not outer)
    return [(select, [_spark_text(column) for column in select.expressions]) for select in inner]


def name_inner(columns: Iterable[tuple[exp.Select, Sequence[str]]]) -> None:
    """Give such columns their texts for names, where functions of this library have taken the place of what the user wrote."""
    for select, texts in columns:
        for column, text in zip(list(select.expressions), texts, strict=True):
            if not isinstance(column.unnest(), _NAMED) and OWN in column.sql(dialect="duckdb").lower():
                column.replace(exp.alias_(column.copy(), text, quoted=True))


def _spark_text(column: exp.Expression) -> str:
    return str(column.sql(dialect="spark", normalize_functions="lower"))


def _is_same(name: str, written: str) -> bool:
    """True for the name of an operator, which both engines put into parentheses: `(id = 1)`."""
    return "".join(name.split()).lower() == f"({''.join(written.split())})".lower()


def _is_comparison(column: Sequence[Token], token: Token) -> bool:
    """True for the FROM of `a IS DISTINCT FROM b`."""
    return token.token_type is TokenType.FROM and bool(column) and column[-1].token_type is TokenType.DISTINCT


def _first_select(tree: exp.Expression) -> exp.Select | None:
    """The SELECT that names the columns of a query."""
    while isinstance(tree, exp.SetOperation):
        tree = tree.this
    return tree if isinstance(tree, exp.Select) else None


def _spans(tokens: Sequence[Token]) -> list[tuple[Token, Token]]:
    """The first and last word of each column of the first SELECT that is not in parentheses."""
    spans: list[tuple[Token, Token]] = []
    column: list[Token] = []
    depth, is_inside = 0, False
    for token in tokens:
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSED)
        if not is_inside:
            is_inside = depth == 0 and token.token_type is TokenType.SELECT
        elif depth == 0 and token.token_type in _ENDS and not _is_comparison(column, token):
            break
        elif depth == 0 and token.token_type is TokenType.COMMA:
            spans += [(column[0], column[-1])] if column else []
            column = []
        elif column or spans or token.token_type not in _QUANTIFIERS:
            column.append(token)
    return [*spans, *([(column[0], column[-1])] if column else [])]
