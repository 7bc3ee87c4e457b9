"""The section `route` of a pipeline: the Hudi tables of source tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hudi_services.entry.database_rules import DATABASE, TABLE
from hudi_services.registry.pipeline.findings import Section
from hudi_services.registry.pipeline.patterns import TablePattern
from hudi_services.registry.pipeline.source import tables_at

_GROUP = re.compile(r"\$(\d)")
_GROUPS = re.compile(r"\{\d\}")
_SINK = re.compile(r"[^./\\]+\.[^./\\]+")


@dataclass(frozen=True)
class PipelineRoute:
    """Tables of these patterns go to `target`, a path below the folder of the sink.

    It has `{table}` for the name of the table and `{1}` for the first group of the patterns. With `merges` all tables go into
    one Hudi table.
    """

    tables: tuple[TablePattern, ...]
    target: str

    @property
    def merges(self) -> bool:
        return "{" not in self.target and not (len(self.tables) == 1 and self.tables[0].literal is not None)


OWN_NAMES = PipelineRoute((), f"{DATABASE}/{TABLE}")
"""The route of tables that no other takes."""


def read_route(section: Section) -> PipelineRoute:
    """Return what a route says. Refusals are in the findings of the section."""
    tables = tables_at(section, "source-table", section.required("source-table"), any_case=False)
    target, symbol = section.required("sink-table"), section.text("replace-symbol")
    section.ignore("description")
    for key in section.rest():
        section.refuse(key, "is not there")
    if not target:
        return PipelineRoute(tables, "")
    if "{" in target or (symbol and "." in symbol):
        section.refuse("sink-table", "cannot have `{`, nor a replace-symbol with a dot")
    named = target.replace(symbol, TABLE) if symbol else _GROUP.sub(r"{\1}", target)
    if not _SINK.fullmatch(named):
        section.refuse("sink-table", "has to be DATABASE.TABLE: write one dot, and no `/`")
    groups = sum(re.compile(pattern.whole).groups for pattern in tables)
    if tables and "$" in named:
        section.refuse("sink-table", "has a `$` that names no group of source-table, such as $1")
    elif tables and (
        far := [int(number) for number in re.findall(r"\{(\d)\}", named) if not 0 < int(number) <= groups]
    ):
        section.refuse("sink-table", f"names the group ${far[0]}, and source-table has {groups}")
    return PipelineRoute(tables, named.replace(".", "/"))


def joined(routes: Iterable[PipelineRoute], *, first_only: bool) -> tuple[PipelineRoute, ...]:
    """Return routes with the same target as one. With `first_only` the order counts, so only neighbors are joined."""
    result: list[PipelineRoute] = []
    for route in routes:
        same = [
            at for at, other in enumerate(result) if other.target == route.target and not _GROUPS.search(route.target)
        ]
        if same and not (first_only and same[-1] != len(result) - 1):
            result[same[-1]] = replace(route, tables=(*result[same[-1]].tables, *route.tables))
        else:
            result.append(route)
    return tuple(result)
