"""Traces of purged rows in a file."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.services.purge.subject import KEYS

ROWS, DELETED_KEYS, KEY_RANGE, BLOOM, TEXT, NAME = (
    "rows",
    "deleted keys",
    "the key range of its footer",
    "the bloom filter of its footer",
    "a text in its bytes",
    "a text in its path",
)


@dataclass(frozen=True)
class Trace:
    """A file that holds something of the subject: `kinds` say what, `rows` how many rows. `keys` are those of rows where the
    condition is true."""

    path: str
    size: int  # bytes
    rows: int = 0
    kinds: frozenset[str] = frozenset()
    keys: pa.Table = field(default_factory=KEYS.empty_table)

    @property
    def contents(self) -> str:
        """For people."""
        counted = [f"{self.rows} rows"] if self.rows else []
        return ", ".join([*counted, *sorted(self.kinds - {ROWS})])
