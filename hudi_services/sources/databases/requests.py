"""Requests of users to the next run of a server, in its folder of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hoodie.errors import PendingInstantError
from hoodie.storage import Storage
from hudi_services.sources.cdc.file_sequence import FileSequence

_KEPT = 20
_TRIES = 5


@dataclass(frozen=True)
class Requests:
    """Tables by their names at the server. Number 0 is stored nowhere.

    `resumed` are parked ones that the next run tries again, with the numbers of their newest requests, and `fresh` those of them
    whose rows are all read again. `skipped` are those that runs leave out until a user resumes them.
    """

    number: int = 0
    resumed: Mapping[str, int] = field(default_factory=dict)
    skipped: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()


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
            resumed, skipped = body["resumed"], frozenset(map(str, body["skipped"]))
            if isinstance(resumed, list):  # as earlier releases wrote it
                resumed = dict.fromkeys(resumed, number)
            fresh = frozenset(map(str, body.get("fresh", ())))
            return Requests(
                number, {str(name): int(request_number) for name, request_number in resumed.items()}, skipped, fresh
            )
        except (TypeError, KeyError, ValueError, AttributeError) as error:
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
                document = {
                    "resumed": dict(sorted(after.resumed.items())),
                    "skipped": sorted(after.skipped),
                    "fresh": sorted(after.fresh),
                }
                self._files.put(before.number + 1, document)
            except PendingInstantError:
                if last:
                    raise
            else:
                return

    def resume(self, tables: frozenset[str], *, fresh: bool = False) -> None:
        """Ask the next run to try tables again that are parked or left out, or to read all their rows. Raises as `change`."""

        def step(before: Requests) -> Requests:
            new_requests = dict.fromkeys(tables, before.number + 1)
            return replace(
                before,
                resumed={**before.resumed, **new_requests},
                skipped=before.skipped - tables,
                fresh=before.fresh | tables if fresh else before.fresh,
            )

        self.change(step)

    def skip(self, tables: frozenset[str]) -> None:
        """Ask runs to leave tables out until they are resumed. Raises as `change`."""

        def step(before: Requests) -> Requests:
            resumed = {name: request_number for name, request_number in before.resumed.items() if name not in tables}
            return replace(before, resumed=resumed, skipped=before.skipped | tables, fresh=before.fresh - tables)

        self.change(step)

    def done(self, resumed: Mapping[str, int]) -> None:
        """Drop the requests that a run took. Those that users make while it goes on stay. Raises as `change`."""

        def step(before: Requests) -> Requests:
            remaining = {
                name: request_number
                for name, request_number in before.resumed.items()
                if resumed.get(name) != request_number
            }
            return replace(before, resumed=remaining, fresh=before.fresh & remaining.keys())

        self.change(step)

    @property
    def _files(self) -> FileSequence:
        return FileSequence(self.storage, self.server, "requests", _KEPT, "file of requests")
