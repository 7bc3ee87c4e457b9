"""What an ingestion is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hudi_services.ingest.plan import Window


@dataclass(frozen=True)
class IngestRequest:
    """What to load, and how. `max_bad_share` is the greatest tolerated share of rows that go to the quarantine."""

    base_path: str
    source_path: str
    source_format: str
    operation: str = "upsert"
    date_pattern: str | None = None
    window: Window = field(default_factory=Window)
    reload: bool = False
    start_fresh: bool = False
    quarantine_path: str | None = None
    max_bad_share: float = 0.0
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def quarantine_folder(self) -> str:
        """Of all runs."""
        return self.quarantine_path or f"{self.base_path.rstrip('/')}.quarantine"

    @property
    def forgotten_source(self) -> str | None:
        """The source whose loaded files count as new."""
        return self.source_path if self.start_fresh else None
