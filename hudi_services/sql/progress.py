"""What runs right now, shown while it takes its time: on a terminal only, so that rows on standard output stay alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hudi_services.runtime.progress import progress_shown

if TYPE_CHECKING:
    from hoodie.engine import Progress, Stage
    from hoodie.sql import Result


class Running:
    """Takes what an engine tells of its progress to whatever shows it at the time."""

    def __init__(self) -> None:
        self._shown: Progress | None = None

    def tell(self, stage: Stage) -> None:
        if self._shown is not None:
            self._shown(stage)

    def each(self, results: Iterator[Result]) -> Iterator[Result]:
        """The same results; each is computed while its progress is shown, and handed on when that is gone."""
        while True:
            with progress_shown(None) as self._shown:
                result = next(results, None)
            self._shown = None
            if result is None:
                return
            yield result
