"""The bounds of BETWEEN, as SQL wants them written."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType


class StrictBounds(Parser):  # type: ignore[misc]
    """A parser that wants AND between the bounds of BETWEEN. sqlglot reads `x between 1 5` without one."""

    def _parse_between(self, this: exp.Expression | None) -> exp.Between:
        begin = self._index
        node: exp.Between = super()._parse_between(this)
        if not _has_outer_and(self._tokens[begin : self._index]):
            self.raise_error("BETWEEN needs AND between its two bounds")
        return node


class Conditions(Dialect):  # type: ignore[misc]
    """The dialect of conditions as text."""

    class Parser(StrictBounds):
        """With AND between bounds."""


def _has_outer_and(tokens: Sequence[Token]) -> bool:
    """True if there is an AND outside of all parentheses and CASEs."""
    depth = 0
    for token in tokens:
        depth += token.token_type in (TokenType.L_PAREN, TokenType.CASE)
        depth -= token.token_type in (TokenType.R_PAREN, TokenType.END)
        if not depth and token.token_type == TokenType.AND:
            return True
    return False
