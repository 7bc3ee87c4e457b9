"""The `alerts` section of a registry: hooks, conditions, how often a message is repeated, and the hour of the daily digest."""

from __future__ import annotations

import re
from datetime import time, timedelta
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from hudi_services.entry.feed.model import Duration, Part, Zone

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A secret in an address: the name of an environment variable."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
_HOUR = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


def wrong_address(url: str) -> str | None:
    """The reason why nothing may be sent to an address; None for a valid one. It never shows the address, which may be a
    secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in ("https", "http"):
        return "has to begin with https:// or http://"
    if not host or any(character.isspace() or not character.isprintable() for character in url):
        return "is no address"
    if parts.username is not None or parts.password is not None:
        return "has a password in it; name an environment variable in `token` instead"
    return None


def _url(value: object) -> object:
    # Errors never show the value, so types are checked here, too: the message has to say what is expected.
    if not isinstance(value, str):
        raise ValueError("has to be an address: https://…, or ${NAME} for one that an environment variable has")
    if VARIABLE.match(value):  # checked when something is sent
        return value
    if wrong := wrong_address(VARIABLE.sub("x", value)):
        raise ValueError(wrong)
    return value


def _token(value: object) -> object:
    # The value may be the secret itself, so the error does not show it.
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError("has to be the name of an environment variable, not a secret")
    return value


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"{value!r:.80} is no name: letters, digits, `_`, `-` and `.`, at most 60 of them")
    return value


def _hour(value: object) -> object:
    if not isinstance(value, str) or not _HOUR.fullmatch(value):
        raise ValueError(f"{value!r:.80} is no hour; write '08:00', with quotes")
    return value


class Hook(Part):
    """A receiver of alerts by HTTP.

    `name` is the key under which delivered alerts are stored. In the address (`url`), `${NAME}` is an environment variable.
    `form` is that of the body: a JSON object, or one with only a `text`, which Slack takes. `token` names the environment
    variable whose value is sent as `Authorization: Bearer`.
    """

    name: Annotated[str, AfterValidator(_name)]
    url: Annotated[str, BeforeValidator(_url)] = Field(repr=False)
    form: Literal["json", "text"] = "json"
    token: Annotated[str, BeforeValidator(_token)] | None = None


def _some(hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    if not hooks:
        raise ValueError("names no hook: add one with `name` and `url`")
    names = [hook.name for hook in hooks]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"names {twice[0]!r} twice")
    return hooks


Longer = Annotated[Duration, Field(ge=timedelta(0))]


class Alerts(Part):
    """The hooks (`hooks`) and the conditions that they report. A condition that is not set sends nothing.

    - `unreadable`: a table cannot be read, is gone, or is damaged for longer than this;
    - `objectives`: an objective is missed for longer than this;
    - `blockers`: a plan or a writer has held a service back for longer than this;
    - `consumers`: services have passed a named consumer;
    - `checks`: data was loaded though it failed checks (`expect` of the source);
    - `runs`: the last run of a service failed;
    - `tasks`: a task of the table's DAGs failed;
    - `late`: a table has had no commit for longer than this;
    - `lag`: a stream has not read a commit for longer than this;
    - `servers`: the newest cut of a database server, or one of its tables, is behind for longer than this;
    - `messages`: a table lacks more messages of its topic than this, or its topic does not continue;
    - `advice`: there is advice on damage or a missed objective that `unreadable` and `objectives` do not report.

    A condition that lasts is reported again after `repeat`. A summary is sent at the hour `digest` of each day, in the time
    zone `zone`.
    """

    hooks: Annotated[tuple[Hook, ...], AfterValidator(_some)]
    unreadable: Longer | None = None
    objectives: Longer | None = None
    blockers: Longer | None = None
    consumers: bool = False
    checks: bool = False
    runs: bool = False
    tasks: bool = False
    late: Longer | None = None
    lag: Longer | None = None
    servers: Longer | None = None
    messages: Annotated[int, Field(ge=1, strict=True)] | None = None
    advice: bool = False
    repeat: Annotated[Duration, Field(ge=timedelta(minutes=1))] = timedelta(days=1)
    digest: Annotated[str, BeforeValidator(_hour)] | None = None
    zone: Zone = "UTC"

    @property
    def digest_at(self) -> time | None:
        """The hour of the digest on a clock of the zone."""
        return time.fromisoformat(self.digest) if self.digest is not None else None
