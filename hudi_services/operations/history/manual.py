"""Records of manual changes: a person's changes at a shell, outside of the services' own commands, are in the history,
too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hudi_services.entry.size_estimate import LOCAL
from hudi_services.operations.history.record import COUNTS
from hudi_services.operations.history.recorder import Recorded
from hudi_services.operations.history.recording import delivered, recording
from hudi_services.runtime.result import ServiceResult


@contextmanager
def by_hand(recorded: Recorded | None, service: str, base_path: str) -> Iterator[Callable[[str], None]]:
    """The block is a run of `service`, which says what it has done to what it gets; one that says nothing leaves no record."""
    with delivered(recorded), recording(recorded, service, base_path, LOCAL) as run:

        def say(message: str) -> None:
            if run is not None:
                run.done(ServiceResult(service, message, acted=True, uncounted=COUNTS))

        yield say
