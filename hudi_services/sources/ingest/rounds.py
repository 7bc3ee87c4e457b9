"""The batches of a source, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from hoodie.clock import Clock, SystemClock
from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.errors import HoodieError
from hoodie.model.time import Time
from hoodie.storage import open_storage
from hoodie.table import HoodieTable
from hoodie.times import span
from hudi_services.runtime.pause import read_pause
from hudi_services.runtime.result import ServiceResult
from hudi_services.sources.ingest.changes.position import KEY, TablePosition
from hudi_services.sources.ingest.changes.source import TableSource
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from hudi_services.sources.ingest.source import EndlessSource
from hudi_services.sources.positions import find_position

_WRITTEN = ("written", "inserted", "updated", "deleted")
_ROWS = ("read", *_WRITTEN, "filtered", "duplicate", "without_effect", "repeated", "quarantined")
_FILES = ("files_read", "files_skipped", "bytes_read", "files_written", "bytes_written")
_SUMS = (*(f"rows_{name}" for name in _ROWS), *_FILES)


@dataclass(frozen=True)
class Pace:
    """When a stream ends: with the commits that were there when it began, after `once` one batch, or after the time `lasting`.

    A stream that lasts looks for new commits every `poll` seconds.
    """

    once: bool = False
    lasting: timedelta | None = None
    poll: float = 5.0


class Hold(Protocol):
    """Keeps what is not taken in where the source is."""

    def begin(self) -> None:
        """Keep it from now on."""
        ...

    def advance(self, position: Time) -> None:
        """Keep what is after the position."""
        ...


@dataclass
class Rounds:
    """A `service` that runs. Each batch is one commit, which also holds the position of the source after it."""

    service: str
    request: IngestRequest
    pace: Pace
    tell: Callable[[str], None]
    hold: Hold | None = None
    clock: Clock = field(default_factory=SystemClock)

    def run(self, engine: Engine) -> ServiceResult:
        """Load batch by batch until the pace ends it, or a user pauses the table. Raises what `run_ingest` raises."""
        start, results = self.clock.now(), list[ServiceResult]()
        request = self.request
        if self.hold is not None:
            self.hold.begin()
        if isinstance(request.source, EndlessSource) and self.pace.lasting is None:
            request = replace(request, source=request.source.until_now())
        paused = ""
        while True:
            result = run_ingest(request, engine)
            request = replace(request, start_fresh=False)
            if result.instant is not None or not results:
                results.append(result)
            if result.instant is not None:
                self.tell(f"batch {len(results)}: {result.message}")
                self._advance()
            if self._ends(result, start):
                break
            if pause := read_pause(open_storage(request.base_path), self.clock):
                paused = f"paused {pause}"
                break
            if result.instant is None:
                self.clock.sleep(self.pace.poll)
        return self._result(results, paused)

    def _ends(self, result: ServiceResult, start: datetime) -> bool:
        if self.pace.once:
            return True
        if self.pace.lasting is not None:
            return self.clock.now() - start >= self.pace.lasting
        return result.instant is None or not isinstance(self.request.source, EndlessSource)

    def _advance(self) -> None:
        if self.hold is not None and (position := self._position()) is not None:
            self.hold.advance(position.completion)

    def _position(self) -> TablePosition | None:
        state = HoodieTable.open(self.request.base_path).state()
        position = find_position(state, KEY, start_fresh=False)
        return TablePosition.decode(position) if position is not None else None

    def _result(self, results: Sequence[ServiceResult], paused: str) -> ServiceResult:
        last = results[-1]
        batches = sum(result.instant is not None for result in results)
        lag = self._lag()
        parts = [last.message if batches < 2 else f"{counted(batches, 'commit')}, the last: {last.message}"]
        parts += [f"{span(lag.total_seconds())} behind the source"] if lag else []
        parts += [paused] if paused else []
        return replace(
            last,
            service=self.service,
            message="; ".join(parts),
            lag_seconds=lag.total_seconds() if lag is not None else None,
            services=[service for result in results for service in result.services if service.failed or result is last],
            columns_left_out=tuple(dict.fromkeys(name for result in results for name in result.columns_left_out)),
            **{name: sum(getattr(result, name) for result in results) for name in _SUMS},
        )

    def _lag(self) -> timedelta | None:
        """How long the first commit that is not taken in has waited; None for files, whose age says nothing,
        and for topics, of which a run takes in all."""
        source, position = self.request.source, None
        if not isinstance(source, TableSource):
            return None
        with suppress(HoodieError):  # a first run without any commit of the source has made no table
            position = self._position()
        waits = source.waiting(position.completion if position is not None else None)
        return self.clock.now() - waits if waits is not None else timedelta()
