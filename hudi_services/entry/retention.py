"""How far back a table's other services look: who archives leaves them what they need."""

from __future__ import annotations

from collections.abc import Mapping

from hoodie.config.archive_keys import ARCHIVE_KEYS
from hoodie.config.concurrency_keys import COMMON_KEYS
from hoodie.config.own import declared
from hudi_services.entry.table import Table

_OTHERS = ("clean", "compact")
_RETENTION = frozenset(ARCHIVE_KEYS).difference(COMMON_KEYS)


def with_retention(table: Table, options: Mapping[str, str]) -> dict[str, str]:
    """`options`, and what an archival asks of those of the table's cleaner and compactions, where they do not say it."""
    given = {declared(name) for name in options}
    found = dict(options)
    for other in _OTHERS:
        said = getattr(table.section(other), "hoodie", {}).items()
        found |= {n: value for n, value in said if declared(n) in _RETENTION and declared(n) not in given}
    return found
