"""Markers in batches, of tasks on other machines: they ask the timeline server, and do it themselves when it is silent."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass

from hoodie.markers.direct import DirectMarkers
from hoodie.markers.names import BATCH_TYPE, BATCHED, MarkerType, batch_path, fits_a_line, marker_folder, marker_name
from hoodie.markers.server import ServerAddress, SilentServerError, note_on_server
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own

_log = logging.getLogger(__name__)

_OWN_NUMBERS = (1 << 20, (1 << 31) - 1)  # far above the server's; Hudi reads an int of 32 bits
_TRIES = 5  # that two tasks draw the same number is no matter of chance any more

_given_up: set[tuple[ServerAddress, Time]] = set()
"""Servers that this process has waited for in vain: the next task does not wait again."""


@dataclass(frozen=True)
class RemoteMarkers:
    """The markers of an instant, which a timeline server writes (`hoodie.write.markers.type=TIMELINE_SERVER_BASED`)."""

    storage: Storage
    instant: Time
    server: ServerAddress

    def create(self, data_file: str, kind: MarkerType) -> None:
        """Note that `data_file` (relative to the base path) is about to be written. Raises what the server finds against it."""
        if not fits_a_line(data_file):
            DirectMarkers(self.storage, self.instant).create(data_file, kind)
            return
        marker = marker_name(data_file, kind)
        if (self.server, self.instant) not in _given_up:
            try:
                note_on_server(self.server, self.storage.base_path, self.instant, marker)
                return
            except SilentServerError as error:
                _given_up.add((self.server, self.instant))
                _log.warning(
                    "Tasks of instant %s of %s note their files themselves, a file for each, as the timeline server at %s does "
                    "not: %s",
                    *(self.instant, self.storage.base_path, self.server, error),
                )
        note_alone(self.storage, self.instant, marker)


def note_alone(storage: Storage, instant: Time, marker: str) -> None:
    """Write a marker without a server: a file for it alone, as a direct marker, but named and filled as the server's files are.

    Hudi's rollback reads no direct markers in a folder with `MARKERS.type`.
    """
    create_own(storage, f"{marker_folder(instant)}/{BATCH_TYPE}", BATCHED)
    for tries_left in reversed(range(_TRIES)):
        try:
            create_own(storage, batch_path(instant, random.randint(*_OWN_NUMBERS)), f"{marker}\n".encode())
        except FileExistsError:
            if not tries_left:
                raise
        else:
            return
