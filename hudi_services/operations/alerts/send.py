"""Sends to hooks by HTTP, all at once and in bounded time.

An address may be a secret as a whole. So errors are reported in words of our own: the texts of libraries often have the
address in them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

import httpx
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from hudi_services.entry.alerts import VARIABLE, Hook, wrong_address

SECONDS = 20.0
"""The time for one hook, with all its tries."""
_TRIES = 3
_BUSY = (429, 502, 503, 504)
_AGAIN = wait_random_exponential(multiplier=0.2, max=2)  # seconds


class _NotSentError(Exception):
    """The reason why a message was not sent, in words that may be shown."""


class _BusyError(_NotSentError):
    """Another try may fare better."""


def send_all(
    bodies: Sequence[tuple[Hook, bytes]], environ: Mapping[str, str], seconds: float = SECONDS
) -> list[str | None]:
    """Send the bodies. Returns, in their order, why a hook has not taken its body; None where it has. It never raises
    for a hook."""
    for name in ("httpx", "httpcore"):  # their lines have addresses in them
        logging.getLogger(name).setLevel(logging.WARNING)
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_all(bodies, environ, seconds))
    finally:  # unlike `asyncio.run` it waits for no thread, where names of hosts may be looked up for long
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _all(bodies: Sequence[tuple[Hook, bytes]], environ: Mapping[str, str], seconds: float) -> list[str | None]:
    return list(await asyncio.gather(*(_post(hook, body, environ, seconds) for hook, body in bodies)))


async def _post(hook: Hook, body: bytes, environ: Mapping[str, str], seconds: float) -> str | None:
    try:
        url, headers = _address(hook, environ), _headers(hook, environ)
        tries = AsyncRetrying(
            stop=stop_after_attempt(_TRIES), wait=_AGAIN, retry=retry_if_exception_type(_BusyError), reraise=True
        )
        async with asyncio.timeout(seconds), httpx.AsyncClient(follow_redirects=False, timeout=seconds) as client:
            await tries(_once, client, url, headers, body)
    except _NotSentError as error:
        return str(error)
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except Exception as error:  # noqa: BLE001 - a hook never stops the watcher; its message may have the address in it
        return type(error).__name__
    return None


async def _once(client: httpx.AsyncClient, url: str, headers: Mapping[str, str], body: bytes) -> None:
    try:
        async with client.stream("POST", url, headers=headers, content=body) as answer:  # what it says is not read
            status = answer.status_code
    except httpx.ConnectError as error:
        raise _BusyError(f"no connection: {type(error).__name__}") from None
    if status in _BUSY:
        raise _BusyError(f"it answers {status}")
    if 300 <= status < 400:
        raise _NotSentError(f"it answers {status}, and nothing is sent elsewhere")
    if not 200 <= status < 300:
        raise _NotSentError(f"it answers {status}")


def _address(hook: Hook, environ: Mapping[str, str]) -> str:
    url = VARIABLE.sub(lambda match: _variable(match.group(1), environ), hook.url)
    if wrong := wrong_address(url):
        raise _NotSentError(f"its address {wrong}")
    return url


def _headers(hook: Hook, environ: Mapping[str, str]) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": "hudi-services"}
    if hook.token is not None:
        headers["Authorization"] = f"Bearer {_variable(hook.token, environ)}"
    return headers


def _variable(name: str, environ: Mapping[str, str]) -> str:
    if not environ.get(name):
        raise _NotSentError(f"the environment variable {name} is not set")
    return environ[name]
