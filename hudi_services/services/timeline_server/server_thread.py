"""A web server in a thread: of the driver of a write, for its markers alone."""

from __future__ import annotations

import errno
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread

import uvicorn

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, MachineError
from hoodie.markers import MarkerBatches
from hoodie.markers.server import ServerAddress
from hudi_services.services.timeline_server.app import make_app
from hudi_services.services.timeline_server.tables import ServedTable

_START_SECONDS, _LOOK_SECONDS = 30, 0.01
_SECRET_BYTES = 32
_TAKEN = frozenset({errno.EADDRINUSE, errno.EACCES, errno.EPERM})


@contextmanager
def serving(batches: MarkerBatches, host: str, port: int) -> Iterator[ServerAddress]:
    """A server of this process for the markers of one instant, with a secret of its own. Raises ConfigError for a port that is
    taken."""
    storage = batches.storage
    table = ServedTable(storage, SystemClock(), batches={batches.instant: batches})
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    with listening(host, port) as listener, served({storage.base_path: table}, secret, listener):
        yield ServerAddress(host, listener.getsockname()[1], secret)


@contextmanager
def served(tables: Mapping[str, ServedTable], secret: str, listener: socket.socket) -> Iterator[None]:
    """A thread that serves tables, by their base paths, at a listening socket."""
    server = web_server(tables, secret)
    thread = Thread(target=server.run, args=([listener],), name="timeline-server", daemon=True)
    thread.start()
    try:
        _wait_until_up(server, thread)
        yield
    finally:
        server.should_exit = True
        thread.join()


def web_server(tables: Mapping[str, ServedTable], secret: str) -> uvicorn.Server:
    """The server that is to be run on a listening socket; it logs no requests, whose headers hold the secret."""
    config = uvicorn.Config(
        make_app(tables, secret), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=10
    )
    return uvicorn.Server(config)


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at the port (0: any that is free). If the host is no address of this machine, as in a container whose
    ports are passed on, it listens at all of them. Raises ConfigError for a port that is taken or not allowed."""
    for place in (host, ""):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((place, port))
            break
        except OSError as error:
            listener.close()
            if place and error.errno not in _TAKEN:
                continue
            raise ConfigError(
                f"The timeline server cannot listen at {host}:{port}",
                found=str(error),
                fix="give another port, or 0 for any that is free",
            ) from error
    try:
        listener.listen(2048)
        yield listener
    finally:
        listener.close()


def _wait_until_up(server: uvicorn.Server, thread: Thread) -> None:
    end = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise MachineError(
                "The timeline server in this process does not start",
                found="its log says why",
                fix="run the write again",
            )
        time.sleep(_LOOK_SECONDS)
