"""Moments of a database server as users write them, and the newest cut at or before one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from hoodie.errors import ConfigError, SqlError
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.cdc.mysql.gtid_set import gtid_set
from hudi_services.sources.cdc.mysql.position import LogPosition, log_position

_NUMBER = re.compile(r"cut\s+(\d+)", re.IGNORECASE)
_GTID = re.compile(r"\d+-\d+-\d+(?:\s*,\s*\d+-\d+-\d+)*")


@dataclass(frozen=True)
class CutNumber:
    """A cut by its number."""

    number: int


@dataclass(frozen=True)
class Transactions:
    """The last number of each domain (MariaDB), or of each server and tag (MySQL), of a position by GTID."""

    domains: Mapping[str, int]


Moment = CutNumber | Transactions | LogPosition | datetime


def source_moment(text: str) -> Moment:
    """Read `cut 12`, a time in ISO 8601 (UTC where it has no zone), `FILE:OFFSET`, or GTIDs. Raises SqlError."""
    text = text.strip()
    if (number := _NUMBER.fullmatch(text)) is not None:
        return CutNumber(int(number[1]))
    with suppress(ValueError):
        time = datetime.fromisoformat(text)
        return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    if domains := _domains(text):
        return Transactions(domains)
    with suppress(ConfigError):
        return log_position(text)
    raise SqlError(
        f"{text!r:.100} is not a moment of a database server",
        fix="write 'cut 12', a time such as '2026-01-31 12:00:00' (UTC), 'mysql-bin.000001:4', or a GTID such as '0-1-7'",
    )


def cut_at(moment: Moment, server: str, newest_first: Iterable[Cut]) -> Cut:
    """Return the newest cut of `server` at or before a moment. A number is that of the cut itself.

    Raises SqlError where there is no such cut. Places of a log and GTIDs are those of the log of the newest cut.
    """
    newest: Cut | None = None
    oldest: Cut | None = None
    for cut in newest_first:
        if oldest is not None and _is_of_other_log(moment, cut, oldest):
            break
        newest, oldest = newest or cut, cut
        if _is_reached(moment, cut):
            return cut
        if isinstance(moment, CutNumber) and cut.number < moment.number:
            break
    if newest is None or oldest is None:
        raise SqlError(f"The server {server} has no cut yet", fix=f"hudi-services cdc sync {server}")
    if isinstance(moment, CutNumber) and newest.number < moment.number:
        raise SqlError(
            f"The server {server} has no cut {moment.number}",
            found=f"the newest is {cut_text(newest)}",
            fix=f"name one of `hudi-services cdc cuts {server}`",
        )
    raise SqlError(
        f"No cut of the server {server} is that old",
        found=f"the oldest is {cut_text(oldest)}",
        fix=f"name a later moment: `hudi-services cdc cuts {server}` lists the cuts",
    )


def cut_text(cut: Cut) -> str:
    """Return a cut in words."""
    return ", ".join(part for part in (f"cut {cut.number} at {cut.position}", cut.gtid, cut.time) if part)


def _is_reached(moment: Moment, cut: Cut) -> bool:
    """Return True where the cut is at the moment or before it."""
    if isinstance(moment, CutNumber):
        return cut.number == moment.number
    if isinstance(moment, datetime):
        return datetime.fromisoformat(cut.time) <= moment
    if isinstance(moment, LogPosition):
        return log_position(cut.position) <= moment
    if not cut.gtid:
        raise SqlError(
            "A cut has no GTID",
            found=cut_text(cut),
            fix="name the moment by a cut, a time or a place of the log",
        )
    return all(number <= moment.domains.get(domain, -1) for domain, number in _domains(cut.gtid).items())


def _is_of_other_log(moment: Moment, earlier: Cut, later: Cut) -> bool:
    """Return True where a log began between the cuts: by RESET MASTER, and for places in files also by a failover."""
    if isinstance(moment, LogPosition):
        return earlier.server_id != later.server_id or log_position(earlier.position) > log_position(later.position)
    if isinstance(moment, Transactions) and later.gtid:
        domains = _domains(later.gtid)
        return any(number > domains.get(domain, -1) for domain, number in _domains(earlier.gtid).items())
    return False


def _domains(gtid: str) -> dict[str, int]:
    """The last numbers of a position by GTID. Empty for another text."""
    if _GTID.fullmatch(gtid):
        return {domain: int(number) for domain, _, number in (part.strip().split("-") for part in gtid.split(","))}
    transactions = gtid_set(gtid)
    return {origin: ranges[-1][1] for origin, ranges in transactions.ranges.items()} if transactions is not None else {}
