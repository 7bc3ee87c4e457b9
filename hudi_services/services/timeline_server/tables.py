"""The tables of a server: what it has looked at, and the markers that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from threading import Lock

from hoodie.clock import Clock
from hoodie.config.partitions import partition_path
from hoodie.errors import ConfigError, PendingInstantError
from hoodie.markers import Batching, MarkerBatches
from hoodie.model.files import FileSlice
from hoodie.model.time import Time
from hoodie.storage.base import ReplacingStorage, Storage
from hoodie.view import TableState, TableView, load_state


class ServedTable:
    """One table. Its timeline is listed for each request; what was found of its files stays until the timeline has moved."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        batching: Batching | None = None,
        batches: Mapping[Time, MarkerBatches] | None = None,
    ) -> None:
        """`batches` are the markers by instant; None: those of every pending instant, by `batching`."""
        self.storage = storage
        self._clock = clock
        self._batching = batching
        self._batches = dict(batches or {})
        self._lock = Lock()
        self._state: TableState | None = None
        self._views: dict[str | None, TableView] = {}

    def state(self) -> TableState:
        """Properties and timeline as they are now. Raises what `load_state` raises."""
        with self._lock:
            return self._looked()

    def slices(self, partition: str | None) -> Sequence[FileSlice]:
        """The newest slice of each file group, of one partition or of all. Raises ArgumentError for a path that
        is no partition's."""
        partition = partition_path(partition) if partition is not None else None
        with self._lock:
            state = self._looked()
            view = self._views.get(partition)
            if view is None:
                view = self._views[partition] = TableView(state, None if partition is None else (partition,))
            return view.latest()

    def begin(self, instant: Time) -> None:
        """Begin an instant, perhaps for a second time, which has deleted its markers: they are read again at the next
        request.

        Raises PendingInstantError.
        """
        with self._lock:
            self._refuse_others(instant)
            batches = self._batches.pop(instant, None)
        if batches is not None:
            batches.close()

    def note(self, instant: Time, marker: str) -> Future[None]:
        """Have a marker written. Raises UnsafePathError; PendingInstantError for an instant that is not being written."""
        return self._taking(instant).request(marker)

    def close(self) -> None:
        """Answer what waits."""
        with self._lock:
            batches, self._batches = list(self._batches.values()), {}
        for batch in batches:
            batch.close()

    def _looked(self) -> TableState:
        """The state, with nothing kept of an older one."""
        now = load_state(self.storage, self._clock) if self._state is None else self._state.reloaded()
        if now is not None:
            self._state = now
            self._views.clear()
        assert self._state is not None
        return self._state

    def _taking(self, instant: Time) -> MarkerBatches:
        if instant in self._batches:
            return self._batches[instant]
        with self._lock:
            self._refuse_others(instant)
            if instant not in self._batches:
                self._batches[instant] = self._new_batches(instant)
            return self._batches[instant]

    def _refuse_others(self, instant: Time) -> None:
        """Raises PendingInstantError for an instant that is not being written; what is known of such ones is forgotten."""
        pending = (
            {pending_instant.time for pending_instant in self._looked().timeline.pending}
            if self._batching is not None
            else set()
        )
        if instant not in pending:
            raise PendingInstantError(
                f"No markers of instant {instant} of table {self.storage.base_path} are taken",
                found="it is not being written",
                fix="nothing was noted; find out who asks for it",
            )
        for completed in set(self._batches) - pending:
            self._batches.pop(completed).close()

    def _new_batches(self, instant: Time) -> MarkerBatches:
        if not isinstance(self.storage, ReplacingStorage) or self._batching is None:
            raise ConfigError(
                f"Table {self.storage.base_path} cannot have markers in batches",
                found="a storage on which a file cannot be replaced by one step",
                fix="leave hoodie.write.markers.type out: direct markers need no such step",
            )
        return MarkerBatches(self.storage, instant, self._batching)
