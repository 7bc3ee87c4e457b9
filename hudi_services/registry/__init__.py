"""The registry: which tables there are, where their data comes from, and which services run on them when."""

from hudi_services.registry.arguments import (
    DateRange,
    bootstrap_arguments,
    clean_arguments,
    compact_arguments,
    ingest_arguments,
)
from hudi_services.registry.load import Reading, Registry, load_registry, read_registry
from hudi_services.registry.mistakes import Mistake
from hudi_services.registry.model import Bootstrap, Clean, Compact, Ingest, Keys, Quarantine, Source, Sync, Table

__all__ = [
    "Bootstrap",
    "Clean",
    "Compact",
    "DateRange",
    "Ingest",
    "Keys",
    "Mistake",
    "Quarantine",
    "Reading",
    "Registry",
    "Source",
    "Sync",
    "Table",
    "bootstrap_arguments",
    "clean_arguments",
    "compact_arguments",
    "ingest_arguments",
    "load_registry",
    "read_registry",
]
