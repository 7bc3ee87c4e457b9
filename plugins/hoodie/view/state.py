"""The state of a table at one moment: properties, timeline and what instants say. Loaded once per operation (design rule 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo

from hoodie.clock import Clock
from hoodie.config.store import load_properties
from hoodie.config.table import TableProperties
from hoodie.model.commit import CommitMetadata
from hoodie.storage.base import Storage
from hoodie.timeline import Instant, Layout, LayoutV1, LayoutV2, Timeline, load_timeline


@dataclass(frozen=True)
class TableState:
    """Immutable but for the memory of instants already read."""

    storage: Storage
    properties: TableProperties
    layout: Layout
    timeline: Timeline
    _commits: dict[str, CommitMetadata] = field(default_factory=dict, repr=False)

    @property
    def zone(self) -> tzinfo:
        return self.properties.timezone

    def commit_metadata(self, instant: Instant) -> CommitMetadata:
        """The body of a completed write instant. Raises CorruptTableError naming the file when it is torn."""
        known = self._commits.get(instant.file_name)
        if known is None:
            known = self.layout.decode_commit(self.body(instant), instant)
            self._commits[instant.file_name] = known
        return known

    def body(self, instant: Instant) -> bytes:
        """The bytes of the file that shows the instant's state."""
        return self.storage.read(f"{self.layout.folder}/{instant.file_name}")

    def where(self, instant: Instant) -> str:
        """How messages name an instant and its file."""
        return f"instant {instant} of table {self.storage.base_path} ({self.layout.folder}/{instant.file_name})"


def layout_of(properties: TableProperties) -> Layout:
    """The timeline layout of a table version: chosen here and nowhere else."""
    if properties.version == 6:
        return LayoutV1(properties.timezone)
    return LayoutV2(properties.timezone, properties.timeline_folder, properties.history_folder)


def load_state(storage: Storage, clock: Clock) -> TableState:
    """Read the properties and list the timeline: two storage calls for a healthy table.

    Raises TableNotFoundError, CorruptTableError or UnsupportedTableError.
    """
    properties = load_properties(storage, clock)
    layout = layout_of(properties)
    return TableState(storage, properties, layout, load_timeline(storage, layout))
