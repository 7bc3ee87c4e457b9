"""Requests of users to the next run of a server, in its folder of states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hoodie.errors import PendingInstantError
from hoodie.storage import Storage
from hudi_services.cdc.file_sequence import FileSequence

_KEPT = 20
_TRIES = 5


@dataclass(frozen=True)
class Requests:
    """Parked tables that the next run tries again, by their names at the server. Number 0 is stored nowhere."""

    number: int = 0
    resumed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RequestStore:
    """The requests about the server `server` in a folder."""

    storage: Storage
    server: str

    def latest(self) -> Requests:
        """Return the requests, empty ones where there are none. Raises CorruptTableError for a file that cannot be read."""
        newest = self._files.latest()
        if newest is None:
            return Requests()
        number, body = newest
        try:
            return Requests(number, frozenset(map(str, body["resumed"])))
        except (TypeError, KeyError) as error:
            raise self._files.unreadable(number, error) from error

    def change(self, step: Callable[[Requests], Requests]) -> None:
        """Store the requests after `step`. Other processes may store theirs at the same time.

        Raises PendingInstantError where others are faster each time.
        """
        for last in (*(False,) * (_TRIES - 1), True):
            before = self.latest()
            after = step(before)
            if after == before:
                return
            try:
                self._files.put(before.number + 1, {"resumed": sorted(after.resumed)})
            except PendingInstantError:
                if last:
                    raise
            else:
                return

    def resume(self, tables: frozenset[str]) -> None:
        """Ask the next run to try parked tables again. Raises as `change`."""
        self.change(lambda before: replace(before, resumed=before.resumed | tables))

    def done(self, tables: frozenset[str]) -> None:
        """Drop requests after a run that took them. Raises as `change`."""
        self.change(lambda before: replace(before, resumed=before.resumed - tables))

    @property
    def _files(self) -> FileSequence:
        return FileSequence(self.storage, self.server, "requests", _KEPT, "file of requests")
