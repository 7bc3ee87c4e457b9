"""The services of the platform. One more is one more entry here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hoodie.errors import ConfigError
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.services.archive.entry import ARCHIVE
from hudi_services.services.bootstrap.entry import BOOTSTRAP
from hudi_services.services.clean.entry import CLEAN
from hudi_services.services.clustering.entry import CLUSTER
from hudi_services.services.compaction.entry import COMPACT
from hudi_services.services.restore.entry import RESTORE
from hudi_services.services.sync.entry import SYNC
from hudi_services.services.ttl.entry import TTL
from hudi_services.sources.ingest.entry import INGEST
from hudi_services.sources.stream.entry import STREAM

Entries = tuple[ServiceEntry[Any], ...]

ENTRIES: Entries = (INGEST, CLEAN, COMPACT, CLUSTER, ARCHIVE, SYNC, BOOTSTRAP, RESTORE, TTL, STREAM)


def entry_named(name: str, entries: Iterable[ServiceEntry[Any]] = ENTRIES) -> ServiceEntry[Any]:
    """The entry of a service. Raises ConfigError for a name that none has."""
    by_name = {entry.name: entry for entry in entries}
    if name not in by_name:
        raise ConfigError(f"There is no service {name!r}", fix=f"name one of {', '.join(by_name)}")
    return by_name[name]


def services_by_objectives(table: Table, entries: Entries = ENTRIES) -> Iterator[str]:
    """Return the names of the services that missed objectives start on a table."""
    for entry in entries:
        section = entry.section_of(table)
        if section is not None and entry.dag.trigger(table, section).by_objectives:
            yield entry.name
