"""The page of a table with its advice in front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.gather import Request, look_facts, with_source
from hudi_services.operations.advice.model import Advice, by_severity
from hudi_services.operations.advice.rounds import Histories
from hudi_services.operations.advice.text import block, nothing
from hudi_services.operations.inspect.overview import PROBLEMS, overview
from hudi_services.operations.inspect.page import Lines, Page
from hudi_services.operations.inspect.table_look import Look


def advised_overview(look: Look, width: int, registry: str | None = None, server: Sequence[Advice] = ()) -> Page:
    """The overview of a table, with advice by what it shows and by the table's history: the doctor is not asked. `width` is in
    characters, `registry` the file, if commands have to name it. `server` is the advice on the server that feeds the table."""
    page = overview(look)
    runs = Histories(look.now).runs_of(look.entry) if look.entry is not None else None
    request = Request(ChosenTable(look.storage.base_path, look.entry), registry, runs)
    facts = with_source(look_facts(look, page.values, request), look)
    advice = by_severity((*advise(facts), *server))
    lines = list(block(advice, look.now, width)) if advice else nothing(facts.looked, width)
    rest = [part for part in page.parts if part.title != PROBLEMS]  # the advice has them, with their fixes
    return replace(
        page,
        values={**page.values, "advice": [item.as_dict(look.now) for item in advice]},
        parts=[Lines(lines, "advice", whole=True), *rest],
    )
