"""The options of a table's services. An archival keeps the instants that the other services need."""

from __future__ import annotations

from collections.abc import Mapping

from hoodie.config.keys.archive import ARCHIVE_KEYS
from hoodie.config.keys.concurrency import COMMON_KEYS
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.config.keys.delete import DELETE_KEYS
from hoodie.config.service_options import declared, laid_over, select_keys
from hudi_services.entry.table import ServiceSection, Table

_ARCHIVE = "archive"
_OTHERS = ("clean", "compact")
_RETENTION = frozenset(ARCHIVE_KEYS).difference(COMMON_KEYS)


def options_of(table: Table, service: str) -> dict[str, str]:
    """The options of a service, before those of its form; also of one without a section."""
    section = table.section(service)
    options = section.hoodie if isinstance(section, ServiceSection) else {}
    return laid_over(with_retention(table, options) if service == _ARCHIVE else options, table.common)


def options_of_purge(table: Table) -> dict[str, str]:
    """The options by which a purge deletes files: the limits of the table's cleaner, and how long it waits for consumers."""
    return laid_over(select_keys(options_of(table, "clean"), (*DELETE_KEYS, RETENTION_HOURS)), table.common)


def with_retention(table: Table, options: Mapping[str, str]) -> dict[str, str]:
    """`options`, and those of the table's cleaner and compactions that an archival needs, unless `options` has them."""
    declared_names = {declared(name) for name in options}
    result = dict(options)
    for other in _OTHERS:
        other_options = getattr(table.section(other), "hoodie", {}).items()
        result |= {
            n: value for n, value in other_options if declared(n) in _RETENTION and declared(n) not in declared_names
        }
    return result
