"""What was said of the markers of a write, as one value (`hoodie.write.markers.*`), and how they are made."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from hoodie.config.key import Options
from hoodie.config.marker_keys import (
    BATCH_INTERVAL_MS,
    BATCH_THREADS,
    DELETE_PARALLELISM,
    MARKERS_TYPE,
    TIMELINE_SERVER_BASED,
)
from hoodie.engine.base import Engine
from hoodie.errors import ConfigError
from hoodie.markers import BatchedMarkers, Batching, DirectMarkers, MarkerBatches, Markers
from hoodie.model.time import Time
from hoodie.storage.base import ReplacingStorage, Storage


@dataclass(frozen=True)
class Marking:
    """In batches or an empty file each; `delete_threads` remove them."""

    batching: Batching | None = None
    delete_threads: int = DELETE_PARALLELISM.default or 1

    @classmethod
    def of(cls, options: Options) -> Self:
        """From checked options, `MARKER_KEYS` among them."""
        batched = options[MARKERS_TYPE] == TIMELINE_SERVER_BASED
        batching = Batching(options[BATCH_INTERVAL_MS], options[BATCH_THREADS]) if batched else None
        return cls(batching, options[DELETE_PARALLELISM])

    def markers(self, storage: Storage, instant: Time, engine: Engine, until: ExitStack) -> Markers:
        """The markers that the tasks of `engine` make for an instant; what serves them ends with `until`.

        Raises ConfigError where they cannot be made so.
        """
        if self.batching is None:
            return DirectMarkers(storage, instant)
        if not engine.in_process:
            raise ConfigError(
                f"Tasks of this engine cannot reach what gathers markers of {storage.base_path}",
                found=f"{MARKERS_TYPE.name}={TIMELINE_SERVER_BASED.lower()}, and tasks in other processes",
                fix=f"leave {MARKERS_TYPE.name} out: direct markers are made by each task itself",
            )
        if not isinstance(storage, ReplacingStorage):
            raise ConfigError(
                f"Table {storage.base_path} cannot have markers in batches",
                found="a storage on which a file cannot be replaced by one step",
                fix=f"leave {MARKERS_TYPE.name} out: direct markers need no such step",
            )
        return BatchedMarkers(until.enter_context(MarkerBatches(storage, instant, self.batching)))
