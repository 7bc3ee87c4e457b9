"""The functions of our own that texts for DuckDB call: macros, which a connection makes when a text first names them.

All of them at once take longer than most queries."""

from __future__ import annotations

import re
from functools import cache

import duckdb

from hoodie.sql.duck_text import MACROS

_NAMED = re.compile(r"CREATE (MACRO (\w+)\(.*)", re.DOTALL)
_WORDS = re.compile(r"\w+")


class Macros:
    """Those of one connection."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        self._made: set[str] = set()

    def make(self, text: str) -> None:
        """Make what the text calls and the connection lacks, each after those that it calls itself."""
        for name in sorted(_called(text) - self._made):
            definition = _definitions()[name]
            self.make(definition.partition("(")[2])
            self._database.execute(f"CREATE OR REPLACE {definition}")  # an interrupt after this line leaves it there
            self._made.add(name)


@cache
def _definitions() -> dict[str, str]:
    named = (match for match in map(_NAMED.fullmatch, MACROS) if match is not None)
    return {match[2].lower(): match[1] for match in named}


def _called(text: str) -> set[str]:
    """The names of macros in a text. A column's name may be one of them: that costs a macro too many."""
    return _definitions().keys() & set(_WORDS.findall(text.lower()))
