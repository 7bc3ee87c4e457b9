"""The request of an ingestion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hoodie.config.operations import Operation, operation_named
from hudi_services.sources.ingest.locations import Places
from hudi_services.sources.ingest.shape.shape import Shape
from hudi_services.sources.ingest.source import Source

_UPSERT = operation_named("upsert")


@dataclass(frozen=True)
class IngestRequest:
    """The source to load, and the options. `max_bad_share` is the greatest tolerated share of rows that go to the quarantine.

    Data that commits after the instant `reload_since` loaded is loaded again. `history` is the operation for a table without
    any commit; None: the same as for later loads.
    """

    base_path: str
    source: Source
    operation: Operation = _UPSERT  # a caller may give its name
    history: Operation | None = None
    start_fresh: bool = False
    reload_since: str | None = None
    quarantine_path: str | None = None
    max_bad_share: float = 0.0
    options: Mapping[str, object] = field(default_factory=dict)
    shape: Shape = field(default_factory=Shape)

    def __post_init__(self) -> None:
        """Raises ConfigError for the name of an operation that is not known."""
        object.__setattr__(self, "operation", operation_named(self.operation))
        if self.history is not None:
            object.__setattr__(self, "history", operation_named(self.history))

    @property
    def places(self) -> Places:
        """The places of the table, and of the quarantine of all runs."""
        return Places(self.base_path, self.quarantine_path or f"{self.base_path.rstrip('/')}.quarantine")
