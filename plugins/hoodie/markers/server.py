"""Address of a timeline server, and requests to it. The starter of one in the driver is looked up by name: see `embedded`."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint

from hoodie.errors import ConfigError, HoodieError, missing_extra, of_line
from hoodie.markers.batches import MarkerBatches
from hoodie.model.time import Time

SECRET_HEADER = "Authorization"
MARKERS_PATH, BEGIN_PATH, HEALTH_PATH = "/v1/markers", "/v1/begin", "/v1/health"

_SERVER = EntryPoint(
    "timeline-server", "hudi_services.services.timeline_server.server_thread:serving", "hoodie.servers"
)
_SECONDS, _TRIES = 10, 4  # for an answer, and how often it is asked for
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2  # seconds between two tries
_REFUSALS = frozenset({http.client.BAD_REQUEST, http.client.CONFLICT})  # with an error of this library in the answer
_BUSY = frozenset({http.client.SERVICE_UNAVAILABLE, http.client.INTERNAL_SERVER_ERROR})  # may be over a little later


@dataclass(frozen=True)
class ServerAddress:
    """Address of a timeline server, and its secret. It travels to the workers."""

    host: str
    port: int
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class SilentServerError(Exception):
    """A timeline server cannot be reached, or does not do what it is asked for; the text says why."""


class BusyServerError(SilentServerError):
    """One that may answer a little later."""


Serving = Callable[[MarkerBatches, str, int], AbstractContextManager[ServerAddress]]
"""A server in this process for the markers of one instant, which tasks reach under a host name, at a port (0: any)."""


def embedded() -> Serving:
    """The starter of a server in the driver: the platform's, as the library has no web server. Raises ConfigError without one."""
    try:
        serving: Serving = _SERVER.load()
    except ImportError as error:
        raise missing_extra(_SERVER.name, "A timeline server in the driver", error) from error
    return serving


def note_on_server(server: ServerAddress, table: str, instant: Time, marker: str) -> None:
    """Have the server note a marker; it is on the storage on return.

    Raises SilentServerError after some tries, and the error of this library that the server has found.
    """
    ask(server, "POST", MARKERS_PATH, {"table": table, "instant": instant, "marker": marker})


def checked_secret(secret: str, where: str) -> str:
    """`secret`, if there is one and a header of HTTP can hold it. Raises ConfigError, which says `where` it belongs."""
    if not secret:
        flaw = f"{where} is not set"
    elif not (secret.isascii() and secret.isprintable()) or secret != secret.strip():
        flaw = (
            f"{where} has characters that cannot travel: ends of lines, letters that are not ASCII, spaces at its ends"
        )
    else:
        return secret
    raise ConfigError(
        "The timeline server has no secret by which it knows its writers",
        found=flaw,
        fix="set it to a long random text of letters and digits, the same for the server and for every writer that uses it",
    )


def begin_on_server(server: ServerAddress, table: str, instant: Time) -> None:
    """Announce to the server that an instant begins, perhaps again: from now on it uses the markers that are on the storage.

    Raises SilentServerError.
    """
    ask(server, "POST", BEGIN_PATH, {"table": table, "instant": instant})


def ask(server: ServerAddress, method: str, path: str, body: object = None) -> bytes:
    """The answer of the server. Raises SilentServerError, or what it raised."""
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

    wait = wait_random_exponential(multiplier=_FIRST_WAIT, max=_LONGEST_WAIT)
    is_busy = retry_if_exception_type(BusyServerError)
    tries = Retrying(stop=stop_after_attempt(_TRIES), wait=wait, retry=is_busy, reraise=True)
    return tries(_ask_once, server, method, path, json.dumps(body).encode())


def _ask_once(server: ServerAddress, method: str, path: str, body: bytes) -> bytes:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=_SECONDS)
    headers = {SECRET_HEADER: f"Bearer {server.secret}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise BusyServerError(f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()
    if answer.status == http.client.OK:
        return content
    problem = of_line(content.decode(errors="replace"))
    if answer.status in _REFUSALS and isinstance(problem, HoodieError):
        raise problem
    kind = BusyServerError if answer.status in _BUSY else SilentServerError
    raise kind(f"{answer.status} {answer.reason}{f', {problem}' if problem is not None else ''}")
