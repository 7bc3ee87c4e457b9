"""A client of Confluent's schema registry: the schema of an id, and those that it refers to. Each is asked for once."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit, urlunsplit

import tenacity

from hoodie.errors import ConfigError, SourceError, SourceUnavailableError

_TRIES = 4
_MISSING, _REFUSED = 404, (401, 403)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the password to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass
class SchemaRegistry:
    """The registry at a URL. `user` and `password` are for HTTP's basic authentication, and are in no text of it.

    `ca` is a file with the authority that signed the server's certificate, None for those of the machine.
    `timeout` is in seconds.
    Raises ConfigError for another URL than http and https.
    """

    url: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: str | None = None
    timeout: float = 10.0
    pause: float = 0.5  # seconds before the second try, twice as long before each further one
    _schemas: dict[int, str | None] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise ConfigError(
                "The URL of the schema registry cannot be used",
                found="a URL with a user or password" if parts.username or parts.password else self.url,
                fix="write https://HOST:PORT, and give user and password apart from it",
            )
        self.url = urlunsplit(parts).rstrip("/")

    def schema(self, number: int) -> str | None:
        """Return the text of the Avro schema with this id, None where the registry has none.

        Raises SourceUnavailableError where the registry does not answer, SourceError for a refusal or another type of schema.
        """
        if number not in self._schemas:
            answer = self._get(f"/schemas/ids/{number}")
            self._schemas[number] = None if answer is None else self._whole(answer, f"the schema {number}")
        return self._schemas[number]

    def _whole(self, answer: dict[str, Any], name: str) -> str:
        """The text of a schema with all schemas that it refers to inside."""
        if answer.get("schemaType", "AVRO") != "AVRO":
            raise SourceError(
                f"The schema registry {self.url} has no Avro for {name}",
                found=str(answer["schemaType"]),
                fix="use a topic whose messages are Avro or JSON",
            )
        named: dict[str, Any] = {}
        self._references(answer, named)
        return inlined(str(answer["schema"]), named)

    def _references(self, answer: dict[str, Any], named: dict[str, Any]) -> None:
        for reference in answer.get("references") or ():
            if reference["name"] in named:
                continue
            path = f"/subjects/{quote(reference['subject'], safe='')}/versions/{reference['version']}"
            other = self._get(path)
            if other is None:
                raise SourceError(
                    f"The schema registry {self.url} lacks a schema that another refers to",
                    found=path,
                    fix="register it again",
                )
            self._references(other, named)
            named[reference["name"]] = json.loads(other["schema"])

    def _get(self, path: str) -> dict[str, Any] | None:
        tries = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(_TRIES),
            wait=tenacity.wait_exponential(self.pause, min=self.pause),
            retry=tenacity.retry_if_exception_type(SourceUnavailableError),
            reraise=True,
        )
        return tries(self._once, path)

    def _once(self, path: str) -> dict[str, Any] | None:
        request = urllib.request.Request(self.url + path, headers={"Accept": "application/vnd.schemaregistry.v1+json"})
        if self.user is not None:
            pair = f"{self.user}:{self.password or ''}".encode()
            request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(pair).decode()}")
        try:
            with self._opener().open(request, timeout=self.timeout) as answer:
                document: dict[str, Any] = json.loads(answer.read())
                return document
        except HTTPError as error:
            if error.code == _MISSING:
                return None
            raise self._refusal(path, error.code) from None
        except (URLError, OSError, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise self._unavailable(path, str(reason)) from None

    def _opener(self) -> urllib.request.OpenerDirector:
        context = ssl.create_default_context(cafile=self.ca)
        return urllib.request.build_opener(_NoRedirects(), urllib.request.HTTPSHandler(context=context))

    def _refusal(self, path: str, code: int) -> SourceError:
        if code >= 500 or code == 429:
            return self._unavailable(path, f"status {code}")
        fix = "check user, password and rights" if code in _REFUSED else "check the URL of the registry"
        return SourceError(f"The schema registry {self.url} refused to answer", found=f"{path}: status {code}", fix=fix)

    def _unavailable(self, path: str, reason: str) -> SourceUnavailableError:
        return SourceUnavailableError(
            f"The schema registry {self.url} does not answer",
            found=f"{path}: {reason}",
            fix="check that it runs, its certificate, and that this machine reaches it",
        )


def inlined(text: str, named: dict[str, Any]) -> str:
    """Return the text of a schema in which the first mention of each of the `named` types is its definition."""
    if not named:
        return text
    unresolved = dict(named)

    def inside(part: Any) -> Any:
        if isinstance(part, list):
            return [inside(branch) for branch in part]
        if isinstance(part, dict):
            types = ("type", "items", "values", "fields")
            return {name: inside(value) if name in types else value for name, value in part.items()}
        return inside(unresolved.pop(part)) if isinstance(part, str) and part in unresolved else part

    return json.dumps(inside(json.loads(text)))
