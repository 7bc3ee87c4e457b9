"""Rules for the tables of a pipeline. A table has the routes that match it, and the first transform that matches it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.registry.pipeline.patterns import TablePattern
from hudi_services.registry.pipeline.routes import OWN_NAMES, PipelineRoute
from hudi_services.registry.pipeline.sink import PipelineBehavior, PipelineSink
from hudi_services.registry.pipeline.source import PipelineSource
from hudi_services.registry.pipeline.transforms import UNCHANGED, PipelineTransform

Patterns = Sequence[TablePattern]


@dataclass(frozen=True)
class Pipeline:
    """The sections of a pipeline."""

    source: PipelineSource
    sink: PipelineSink
    behavior: PipelineBehavior
    routes: tuple[PipelineRoute, ...]
    transforms: tuple[PipelineTransform, ...]

    def rules(self, server: str) -> tuple[DatabaseRule, ...]:
        """Return rules for tables of the server `server`. Raises ValidationError for options that no rule has."""
        return tuple(DatabaseRule.model_validate(values) for values in self._rules(server))

    def _rules(self, server: str) -> Iterator[dict[str, Any]]:
        earlier: list[TablePattern] = []
        for route in (*self.routes, OWN_NAMES):
            excluded = earlier if self.behavior.first_only or route is OWN_NAMES else []
            transformed: list[TablePattern] = []
            for transform in (*self.transforms, UNCHANGED):
                tables = _Tables(
                    (route.tables, self.source.tables, transform.tables),
                    (*self.source.excluded, *excluded, *transformed),
                )
                transformed += transform.tables
                if not tables.is_empty:
                    named = route.tables or self.source.tables
                    yield {**self._values(server, route, transform), **tables.named(named)}
            earlier += route.tables

    def _values(self, server: str, route: PipelineRoute, transform: PipelineTransform) -> dict[str, Any]:
        return {
            "server": server,
            "base_path": f"{self.sink.path}/{route.target}",
            "merge": route.merges,
            "type": self.sink.type,
            "statements": dict(self.behavior.statements),
            "columns": transform.columns,
            "add_columns": dict(transform.added),
            "where": transform.where,
            "hoodie": {**self.sink.hoodie, **transform.hoodie},
        }


@dataclass(frozen=True)
class _Tables:
    """Tables that match one pattern of all `required` (an empty one is all tables), and none of `excluded`."""

    required: tuple[Patterns, ...]
    excluded: Patterns

    @property
    def is_empty(self) -> bool:
        """True if no table can match, as far as names without regular expressions say."""
        for patterns in self.required:
            names = [pattern.literal for pattern in patterns]
            if names and all(names):
                matching = re.compile(self._expression, re.DOTALL | re.IGNORECASE)
                return not any(matching.fullmatch(name) for name in names if name)
        return False

    def named(self, patterns: Patterns) -> dict[str, Any]:
        """The keys of a rule that choose these tables. `patterns` are those that people know them by."""
        return {
            "database": "(?i)" + "|".join(dict.fromkeys(pattern.database for pattern in patterns)),
            "tables": tuple(dict.fromkeys(f"(?i){pattern.table}" for pattern in patterns)),
            "sources": self._expression,
        }

    @property
    def _expression(self) -> str:
        """One regular expression over DATABASE.TABLE. Groups of the first required patterns come first in it."""
        required = (f"(?=(?:{_any(patterns)})\\Z)" for patterns in self.required if patterns)
        excluded = f"(?!(?:{_any(self.excluded)})\\Z)" if self.excluded else ""
        return f"{''.join(required)}{excluded}.*"


def _any(patterns: Patterns) -> str:
    return "|".join(pattern.whole for pattern in patterns)
