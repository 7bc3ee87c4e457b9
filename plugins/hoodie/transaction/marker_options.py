"""The options of a write's markers as one value (`hoodie.write.markers.*`), and the markers that they ask for."""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from hoodie.config.key import Options
from hoodie.config.keys.marker import (
    BATCH_INTERVAL_MS,
    BATCH_THREADS,
    DELETE_PARALLELISM,
    EMBEDDED,
    EMBEDDED_PORT,
    MARKERS_TYPE,
    SERVER_HOST,
    SERVER_PORT,
    SERVER_SECRET,
    TIMELINE_SERVER_BASED,
)
from hoodie.engine.base import Engine
from hoodie.errors import ConfigError
from hoodie.markers import Batching, DirectMarkers, LocalMarkers, MarkerBatches, Markers, RemoteMarkers
from hoodie.markers.server import ServerAddress, SilentServerError, begin_on_server, checked_secret, embedded
from hoodie.model.time import Time
from hoodie.storage.base import ReplacingStorage, Storage
from hoodie.transaction.early_conflicts import EarlyDetection, Looking, PeriodicDetection

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MarkerOptions:
    """In batches, which a server takes where tasks are in other processes, or an empty file each; who deletes them."""

    batching: Batching | None = None
    port: int = 0  # port of a server in this process
    apart: tuple[str, int] | None = None  # host and port of one that runs by itself
    delete_threads: int = DELETE_PARALLELISM.default or 1
    looking: Looking | None = None  # how conflicts are looked for by markers; None: not at all

    @classmethod
    def of(cls, options: Options) -> Self:
        """From checked options, `MARKER_KEYS` among them. Raises ConfigError (see `Looking`)."""
        batched = options[MARKERS_TYPE] == TIMELINE_SERVER_BASED
        batching = Batching(options[BATCH_INTERVAL_MS], options[BATCH_THREADS]) if batched else None
        apart = None
        if batching is not None and not options[EMBEDDED]:
            if options.is_set(SERVER_HOST):
                apart = options[SERVER_HOST], options[SERVER_PORT]
            else:
                batching = None
                _log.warning("Markers are direct ones, as in Hudi where %s=false", EMBEDDED.name)
        return cls(batching, options[EMBEDDED_PORT], apart, options[DELETE_PARALLELISM], Looking.of(options))

    @property
    def tasks_look(self) -> bool:
        """Return whether each task looks for conflicts, instead of the collector of markers in this process."""
        return self.looking is not None and (self.batching is None or self.apart is not None)

    def markers(
        self, storage: Storage, instant: Time, engine: Engine, early: EarlyDetection | None, until: ExitStack
    ) -> Markers:
        """The markers that the tasks of `engine` make for an instant; what serves them ends with `until`.

        Raises ConfigError where they cannot be made so.
        """
        if self.batching is None:
            return DirectMarkers(storage, instant)
        if self.apart is not None:
            return RemoteMarkers(storage, instant, _reached(*self.apart, storage, instant))
        if not isinstance(storage, ReplacingStorage):
            raise ConfigError(
                f"Table {storage.base_path} cannot have markers in batches",
                found="a storage on which a file cannot be replaced by one step",
                fix=f"leave {MARKERS_TYPE.name} out: direct markers need no such step",
            )
        serve = None if engine.in_process else embedded()
        check = PeriodicDetection(early).check if early is not None else lambda markers: None
        batches = until.enter_context(MarkerBatches(storage, instant, self.batching, check))
        if serve is None:
            return LocalMarkers(batches)
        return RemoteMarkers(storage, instant, until.enter_context(serve(batches, engine.host, self.port)))


def _reached(host: str, port: int, storage: Storage, instant: Time) -> ServerAddress:
    """The server that runs by itself, which knows now that the instant begins. Raises ConfigError when it does not answer, knows
    another secret, or does not serve the table."""
    address = ServerAddress(host, port, checked_secret(os.environ.get(SERVER_SECRET, ""), SERVER_SECRET))
    try:
        begin_on_server(address, storage.base_path, instant)
    except SilentServerError as error:
        raise ConfigError(
            f"The timeline server at {address} cannot be used",
            found=str(error),
            fix="start it for this table (`hudi-services timeline-server`), with the same secret in "
            f"{SERVER_SECRET} there and here; or leave {EMBEDDED.name} out",
        ) from error
    return address
