"""Progress of the running statement, on a terminal only, so that standard output has nothing but rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hudi_services.runtime.progress import progress_shown

if TYPE_CHECKING:
    from hoodie.engine import Progress, Stage
    from hoodie.sql import Result


class Running:
    """Passes the progress of an engine to the current display, if there is one."""

    def __init__(self) -> None:
        self._shown: Progress | None = None

    def tell(self, stage: Stage) -> None:
        if self._shown is not None:
            self._shown(stage)

    def with_progress(self, results: Iterator[Result]) -> Iterator[Result]:
        """The same results; each is computed while its progress is shown, and handed on when that is gone."""
        while True:
            with progress_shown(None) as self._shown:
                result = next(results, None)
            self._shown = None
            if result is None:
                return
            yield result
