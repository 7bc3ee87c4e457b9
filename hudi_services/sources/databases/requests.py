"""Requests of users to the next run of a server, in its folder of states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hoodie.errors import PendingInstantError
from hoodie.storage import Storage
from hudi_services.sources.cdc.file_sequence import FileSequence

_KEPT = 20
_TRIES = 5


@dataclass(frozen=True)
class Requests:
    """Tables by their names at the server. Number 0 is stored nowhere.

    `resumed` are parked ones that the next run tries again, `skipped` ones that runs leave out until a user resumes them.
    """

    number: int = 0
    resumed: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()


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
            resumed, skipped = (frozenset(map(str, body[key])) for key in ("resumed", "skipped"))
            return Requests(number, resumed, skipped)
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
                document = {"resumed": sorted(after.resumed), "skipped": sorted(after.skipped)}
                self._files.put(before.number + 1, document)
            except PendingInstantError:
                if last:
                    raise
            else:
                return

    def resume(self, tables: frozenset[str]) -> None:
        """Ask the next run to try tables again that are parked or left out. Raises as `change`."""
        self.change(lambda before: replace(before, resumed=before.resumed | tables, skipped=before.skipped - tables))

    def skip(self, tables: frozenset[str]) -> None:
        """Ask runs to leave tables out until they are resumed. Raises as `change`."""
        self.change(lambda before: replace(before, resumed=before.resumed - tables, skipped=before.skipped | tables))

    def done(self, resumed: frozenset[str]) -> None:
        """Drop requests after a run that tried these tables again. Raises as `change`."""
        self.change(lambda before: replace(before, resumed=before.resumed - resumed))

    @property
    def _files(self) -> FileSequence:
        return FileSequence(self.storage, self.server, "requests", _KEPT, "file of requests")
