"""What a registry may say of alerts: whom to tell, of what, how often, and when a day is summed up."""

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
    """Why nothing is sent to such an address; None where it may be. It never has the address in it, which may be a secret."""
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
    # Whatever is wrong is told without the value, so types are looked at here, too.
    if not isinstance(value, str):
        raise ValueError("has to be an address: https://…, or ${NAME} for one that an environment variable has")
    if VARIABLE.match(value):  # it is looked at when something is sent
        return value
    if wrong := wrong_address(VARIABLE.sub("x", value)):
        raise ValueError(wrong)
    return value


def _token(value: object) -> object:
    # Somebody may have written the secret itself, so it is not shown.
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
    """One who is told by HTTP: his `name`, under which is kept what he was told; the address (`url`), in which `${NAME}` is an
    environment variable; the `form` of the body, an object of JSON, or one with nothing but a `text`, as Slack takes it; and the
    environment variable (`token`) that has what is sent as `Authorization: Bearer`."""

    name: Annotated[str, AfterValidator(_name)]
    url: Annotated[str, BeforeValidator(_url)] = Field(repr=False)
    form: Literal["json", "text"] = "json"
    token: Annotated[str, BeforeValidator(_token)] | None = None


def _some(hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    if not hooks:
        raise ValueError("names nobody who is to be told")
    names = [hook.name for hook in hooks]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"names {twice[0]!r} twice")
    return hooks


Longer = Annotated[Duration, Field(ge=timedelta(0))]


class Alerts(Part):
    """Whom to tell (`hooks`), and of what: a table that for longer than `unreadable` cannot be read or is gone, or is damaged; an
    objective that is missed for longer than `objectives`; a plan or writer that has held a service back for longer than
    `blockers`; a named consumer that services have passed (`consumers`); a service whose last run failed (`runs`); a task of its
    DAGs that failed (`tasks`); a table without a commit for longer than `late`; a stream that has not taken in a commit for
    longer than `lag`; a database server whose newest cut, or a table of which, is behind for longer than `servers`. What is not
    said is not told. What lasts is told again after `repeat`; at the hour `digest` of each day, in the time zone `zone`, it is
    summed up."""

    hooks: Annotated[tuple[Hook, ...], AfterValidator(_some)]
    unreadable: Longer | None = None
    objectives: Longer | None = None
    blockers: Longer | None = None
    consumers: bool = False
    runs: bool = False
    tasks: bool = False
    late: Longer | None = None
    lag: Longer | None = None
    servers: Longer | None = None
    repeat: Annotated[Duration, Field(ge=timedelta(minutes=1))] = timedelta(days=1)
    digest: Annotated[str, BeforeValidator(_hour)] | None = None
    zone: Zone = "UTC"

    @property
    def digest_at(self) -> time | None:
        """The hour of the digest on a clock of the zone."""
        return time.fromisoformat(self.digest) if self.digest is not None else None
