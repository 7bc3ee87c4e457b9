"""Ranges of a key in the order of the server: conditions of SQL, with values as the server gave them.

The server alone compares keys. A client knows neither its collations nor the order of an ENUM. Conditions are written out
(`a = 1 AND b > 2 OR a > 1`): MariaDB and MySQL read the whole index for `(a, b) > (1, 2)`. Values of text are bytes with their
character set, so no character of them is syntax, in any mode of the session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hudi_services.sources.cdc.mysql.binlog.table_map import Code
from hudi_services.sources.cdc.mysql.facts import quoted

KeyValues = tuple[bytes, ...]
"""A value for each column of a key, as `KeyColumn.read` prints it."""
_NUMBERS = (
    *(Code.TINY, Code.SHORT, Code.INT24, Code.LONG, Code.LONGLONG, Code.YEAR),
    *(Code.NEWDECIMAL, Code.FLOAT, Code.DOUBLE, Code.ENUM),
)
_TIMES = (Code.DATE, Code.DATETIME2, Code.TIMESTAMP2, Code.TIME2)
_TEXTS = (Code.STRING, Code.VARCHAR)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")
_TIME = re.compile(r"[-0-9:. ]+")
_ADDRESS = re.compile(r"[-0-9a-f:.]+")
_CHARSET = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class KeyColumn:
    """A column of a key. `charset` is that of its text, empty for bytes. `labels` is how many an ENUM has, or more.

    `is_address`: of the types UUID, INET4 and INET6, which the server prints as text and compares as bytes.
    """

    name: str
    code: Code
    charset: str = ""
    labels: int = 0
    is_address: bool = False

    @property
    def read(self) -> str:
        """The expression whose printed value `literal` takes."""
        name = quoted(self.name)
        if self.code is Code.ENUM:
            return f"{name} + 0"
        if self.code is Code.FLOAT:
            return f"CAST({name} AS DOUBLE)"
        return f"CAST({name} AS BINARY)" if self.charset else name

    def literal(self, value: bytes) -> str:
        """Return the value in SQL. Raises ValueError for bytes that the type does not print."""
        if self.code is Code.BIT:
            return str(int.from_bytes(value, "big"))
        if self.code in _TEXTS and not self.is_address:
            introducer = f"_{self.charset} " if _CHARSET.fullmatch(self.charset) else ""
            return f"{introducer}X'{value.hex()}'"
        text = value.decode("ascii", "replace")
        if self.code in _NUMBERS and _NUMBER.fullmatch(text):
            is_double = self.code in (Code.FLOAT, Code.DOUBLE) and "e" not in text
            return f"{text}e0" if is_double else text
        if (self.code in _TIMES and _TIME.fullmatch(text)) or (self.is_address and _ADDRESS.fullmatch(text)):
            return f"'{text}'"
        raise ValueError(f"{value!r:.100}, which is no value of the key column {self.name!r}")

    def compared(self, operator: str, value: bytes) -> str:
        """Return the condition that the column is `operator` (=, <, <= or >) the value."""
        if self.code is not Code.ENUM or operator == "=":
            return f"{quoted(self.name)} {operator} {self.literal(value)}"
        # The server reads the index for numbers of labels in a list only. The number 0 is a value that it did not know.
        number = int(self.literal(value))
        numbers = range(number + 1, self.labels + 1) if operator == ">" else range(number + (operator == "<="))
        return f"{quoted(self.name)} IN ({', '.join(map(str, numbers))})" if numbers else "FALSE"


def is_ordered(code: Code) -> bool:
    """Return True for types of which the server compares values in the order of an index: for SET it does not."""
    return code is Code.BIT or code in (*_NUMBERS, *_TIMES, *_TEXTS)


def key_after(columns: Sequence[KeyColumn], values: KeyValues) -> str:
    """Return the condition that a key comes after `values`."""
    return _compared(columns, values, ">", ">")


def key_up_to(columns: Sequence[KeyColumn], values: KeyValues) -> str:
    """Return the condition that a key is `values`, or comes before."""
    return _compared(columns, values, "<", "<=")


def _compared(columns: Sequence[KeyColumn], values: KeyValues, inner: str, last: str) -> str:
    def alternatives() -> Iterator[str]:
        pairs = list(zip(columns, values, strict=True))
        for place, (column, value) in enumerate(pairs):
            equal = [before.compared("=", begin) for before, begin in pairs[:place]]
            operator = last if place == len(pairs) - 1 else inner
            yield " AND ".join([*equal, column.compared(operator, value)])

    return f"({' OR '.join(f'({alternative})' for alternative in alternatives())})"
