"""The page of a table with its advice in front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hoodie.clock import SystemClock
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.gather import (
    Request,
    look_facts,
    unread_facts,
    with_damages,
    with_inserts,
    with_source,
)
from hudi_services.operations.advice.model import Advice, by_severity
from hudi_services.operations.advice.rounds import Histories
from hudi_services.operations.advice.text import block, nothing
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.page import Lines, Page
from hudi_services.operations.inspect.problems import PROBLEMS
from hudi_services.operations.inspect.table_look import Look
from hudi_services.runtime.failures import Failure


def unread_overview(chosen: ChosenTable, error: Exception, width: int, registry: str | None = None) -> Page:
    """The page of a table that this error keeps from being read: what keeps it, and what ends that."""
    now = SystemClock().now()
    facts = unread_facts(Request(chosen, registry), now, error)
    advice = advise(facts)
    values = {**Failure.of(error).as_dict(), "advice": [item.as_dict(now) for item in advice]}
    return Page(values, [Lines(list(block(advice, now, width)), "advice", whole=True)], [str(error)])


def advised_overview(look: Look, width: int, registry: str | None = None, server: Sequence[Advice] = ()) -> Page:
    """The overview of a table, with advice by what it shows, its history and the keys of the newest inserts.

    The doctor is asked about tables with problems, and about small ones. `width` is in characters, `registry` the file, if
    commands have to name it. `server` is the advice on the server that feeds the table.
    """
    page = overview(look)
    runs = Histories(look.now).runs_of(look.entry) if look.entry is not None else None
    request = Request(ChosenTable(look.storage.base_path, look.entry), registry, runs)
    facts = with_inserts(with_damages(look_facts(look, page.values, request), request, look), look)
    facts = with_source(facts, look)
    advice = by_severity((*advise(facts), *server))
    lines = list(block(advice, look.now, width)) if advice else nothing(facts.looked, width)
    rest = [part for part in page.parts if part.title != PROBLEMS]  # the advice has them, with their fixes
    return replace(
        page,
        values={**page.values, "advice": [item.as_dict(look.now) for item in advice]},
        parts=[Lines(lines, "advice", whole=True), *rest],
    )
