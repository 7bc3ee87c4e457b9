"""VACUUM and OPTIMIZE, as other lakes have them: the clean, the compaction and the clustering of this library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from hoodie.config.keys import clean as clean_keys
from hoodie.config.keys import clustering as clustering_keys
from hoodie.config.options import options_for
from hoodie.errors import SqlError
from hoodie.services.clean.service import CLEAN
from hoodie.services.clustering.service import CLUSTERING
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.decision import Decision
from hoodie.services.service import Scheduled, pending_plans
from hoodie.sql.parse import DIALECT, shortened
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.table import HoodieTable

_NAME = r"(?P<table>(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)"
_VACUUM = re.compile(
    rf"VACUUM\s+(?:TABLE\s+)?{_NAME}(?:\s+RETAIN\s+(?P<hours>\d+)\s+HOURS?)?(?P<dry>\s+DRY\s+RUN)?", re.IGNORECASE
)
_OPTIMIZE = re.compile(
    rf"OPTIMIZE\s+(?:TABLE\s+)?{_NAME}(?:\s+ZORDER\s+BY\s*\(?(?P<columns>[\w\s,.`]+?)\)?)?", re.IGNORECASE
)
_HOURS = "KEEP_LATEST_BY_HOURS"


@dataclass(frozen=True)
class _Request:
    """The table of a statement, and the options of its service."""

    table: HoodieTable
    options: dict[str, object]

    @classmethod
    def of(cls, session: Session, name: str, options: dict[str, object]) -> _Request:
        entry = session.entry(exp.to_table(name, dialect=DIALECT))
        return cls(session.open(entry), {**session.write_options(entry), **options})


def vacuum(session: Session, text: str, *, dry: bool = False) -> Result:
    """VACUUM t [RETAIN n HOURS] [DRY RUN]: clean the table. The result is the plan, and without `dry` what was done.

    Raises SqlError for another text, and what a clean raises, such as DeleteCapError.
    """
    match = _read(_VACUUM, text, "VACUUM t [RETAIN n HOURS] [DRY RUN]")
    options: dict[str, object] = {}
    if match["hours"] is not None:
        options = {clean_keys.POLICY.name: _HOURS, clean_keys.HOURS_RETAINED.name: match["hours"]}
    request = _Request.of(session, match["table"], options)
    plan = request.table.explain(CLEAN, request.options)
    if dry or match["dry"]:
        return _plan("clean", plan)
    message, _ = CLEAN.report(request.table.run(CLEAN, request.options))
    return _executed("clean", plan, message)


def optimize(session: Session, text: str, *, dry: bool = False) -> Result:
    """OPTIMIZE t [ZORDER BY (columns)]: compact a merge-on-read table; cluster another one, and one whose rows are to be sorted.
    The result is the plan, and without `dry` what was done.

    Raises SqlError for another text, and what the service raises.
    """
    match = _read(_OPTIMIZE, text, "OPTIMIZE t [ZORDER BY (column, …)]")
    options: dict[str, object] = {}
    if match["columns"] is not None:
        columns = ",".join(name.strip(" `") for name in match["columns"].split(","))
        options = {clustering_keys.SORT_COLUMNS.name: columns, clustering_keys.LAYOUT.name: clustering_keys.Z_ORDER}
    request = _Request.of(session, match["table"], options)
    if request.table.state().properties.is_merge_on_read and not options:
        return _scheduled(request, "compact", COMPACTION, dry=dry)
    return _scheduled(request, "cluster", CLUSTERING, dry=dry)


def _scheduled(request: _Request, name: str, service: Scheduled[Any, Any], *, dry: bool) -> Result:
    """Schedule a plan although no trigger is due, as the user asked for it, and carry out all that wait."""
    table, options = request.table, request.options
    plan = service.decide(table.state(), options_for(options, service.options), table.clock, force=True)
    if dry:
        return _plan(name, plan)
    table.schedule(service, options, force=True)
    times = [instant.time for instant in pending_plans(table.state(), service)]
    for time in times:
        table.run(service, options, time=time)
    return _executed(name, plan, f"carried out {', '.join(times)}" if times else "nothing was changed")


def _read(pattern: re.Pattern[str], text: str, form: str) -> dict[str, Any]:
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise SqlError(f"A statement cannot be read: {shortened(text)}", fix=f"write {form}")
    return match.groupdict()


def _plan(name: str, plan: Decision[Any]) -> Result:
    return Result.of_message(plan.as_text(name))


def _executed(name: str, plan: Decision[Any], message: str) -> Result:
    """The lines of the plan, without the last, which says that nothing was changed."""
    return Result.of_message("\n".join([*_lines(name, plan), f"{name}: {message}"]))


def _lines(name: str, plan: Decision[Any]) -> Iterator[str]:
    yield from plan.as_text(name).splitlines()[:-1]


MAINTENANCE: dict[str, Callable[..., Result]] = {"VACUUM": vacuum, "OPTIMIZE": optimize}
"""Statements by their first word."""
