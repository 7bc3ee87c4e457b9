"""The services of the platform. One more is one more entry here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hoodie.errors import ConfigError
from hudi_services.archive.entry import ARCHIVE
from hudi_services.bootstrap.entry import BOOTSTRAP
from hudi_services.clean.entry import CLEAN
from hudi_services.cluster.entry import CLUSTER
from hudi_services.compact.entry import COMPACT
from hudi_services.entry.service import ServiceEntry
from hudi_services.ingest.entry import INGEST
from hudi_services.restore.entry import RESTORE
from hudi_services.stream.entry import STREAM
from hudi_services.sync.entry import SYNC
from hudi_services.ttl.entry import TTL

Entries = tuple[ServiceEntry[Any], ...]

ENTRIES: Entries = (INGEST, CLEAN, COMPACT, CLUSTER, ARCHIVE, SYNC, BOOTSTRAP, RESTORE, TTL, STREAM)


def entry_named(name: str, entries: Iterable[ServiceEntry[Any]] = ENTRIES) -> ServiceEntry[Any]:
    """The entry of a service. Raises ConfigError for a name that none has."""
    known = {entry.name: entry for entry in entries}
    if name not in known:
        raise ConfigError(f"There is no service {name!r}", fix=f"name one of {', '.join(known)}")
    return known[name]
