"""Cases of SQL in files, which two engines run: statements, and the rows that queries give.

A file is made of cases, each below a line `=== name`. A statement ends with `;`, its rows follow it, four spaces in front,
columns between bars; those of Hudi follow them with `  h ` in front, where they are others. `;!` ends a statement that both
engines refuse, `;!hudi` and `;!ours` one that only Hudi or only this library refuses. A line `-- differs: why` explains
every difference.

`{t}` and `{s}` are names of tables, `{kind}` is cow or mor, `{std}` declares a key `id` and an ordering field `ts`; `{commit2}`
and `{done2}` are the instant and the completion time of the second commit of `{t}`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

FILES = Path(__file__).parents[1] / "interop" / "sql_statements"
KINDS = ("cow", "mor")
_ROWS, _HUDIS = "    ", "  h"
_STANDARD = "tblproperties (type = '{kind}', primaryKey = 'id', preCombineField = 'ts')"


@dataclass(frozen=True)
class Step:
    """A statement, the rows that it gives (None: it is no query), and who refuses it."""

    text: str
    rows: tuple[str, ...] | None
    refused_by: frozenset[str]
    hudis: tuple[str, ...] | None = None
    """The rows that Hudi gives; None where it gives the same."""


@dataclass(frozen=True)
class Case:
    file: str
    name: str
    steps: tuple[Step, ...]
    differs: str | None

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}"


def cases() -> list[Case]:
    return [case for path in sorted(FILES.glob("*.sql")) for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    for part in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        differs = re.search(r"^-- differs: (.*)$", body, re.MULTILINE)
        yield Case(path.stem, name.strip(), tuple(_steps(body)), differs[1] if differs else None)


def _steps(body: str) -> Iterator[Step]:
    step, text = None, ""
    for line in body.splitlines():
        if line.startswith(_ROWS) and not text:
            assert step is not None, line
            step = replace(step, rows=(*(step.rows or ()), line[len(_ROWS) :]))
        elif line.startswith(_HUDIS) and not text:
            assert step is not None, line
            more = (line[len(_HUDIS) + 1 :],) if line != _HUDIS else ()
            step = replace(step, hudis=(*(step.hudis or ()), *more))
        elif line.strip() and not line.startswith("--"):
            text += line + "\n"
            ended = re.search(r";(!(?:hudi|ours)?)?\s*$", line)
            if ended:
                if step is not None:
                    yield step
                refused = {None: (), "!": ("hudi", "ours"), "!hudi": ("hudi",), "!ours": ("ours",)}[ended[1]]
                text = re.sub(r";(!(?:hudi|ours)?)?\s*$", "", text)
                is_query = text.lower().lstrip().startswith(("select", "show", "describe", "with"))
                step = Step(text.strip(), () if is_query else None, frozenset(refused))
                text = ""
    if step is not None:
        yield step


def sampled(kinds: Sequence[str], every: int) -> list[tuple[Case, str]]:
    """One in `every` of all cases on all `kinds` of table; with SQL_CASES=all, all. A statement takes seconds on Spark."""
    runs = [(case, kind) for case in cases() for kind in kinds]
    return runs if os.environ.get("SQL_CASES") == "all" else runs[::every]


Answer = list[Mapping[str, Any]]


def names(case: Case, kind: str) -> dict[str, str]:
    """The names of a case's tables, which no other case has."""
    stem = re.sub(r"\W+", "_", f"{case.file}_{case.name}"[:60].lower())
    return {"t": f"{stem}_{kind}", "s": f"{stem}_{kind}_s", "T": f"{stem}_{kind}".upper()}


def played(
    case: Case, kind: str, run: Callable[[str], Answer], engine: str
) -> Iterator[tuple[Step, tuple[str, ...] | None]]:
    """Each step with the rows that `run` gives, None where it raises; `engine` is hudi or ours."""
    tables = names(case, kind)
    for step in case.steps:
        text = step.text.replace("{std}", _STANDARD).replace("{kind}", kind)
        for name, table in tables.items():
            text = text.replace(f"{{{name}}}", table)
        if "{commit" in text or "{done" in text:
            commits = sorted(run(f"call show_commits(table => '{tables['t']}', limit => 100)"), key=_time)
            for number, commit in enumerate(commits, 1):
                text = text.replace(f"{{commit{number}}}", str(commit["commit_time"]))
                text = text.replace(f"{{done{number}}}", str(commit["state_transition_time"]))
        try:
            rows = run(text)
        except Exception:
            if engine not in step.refused_by:
                raise
            yield step, None
        else:
            lines = ["|".join(map(shown, row.values())) for row in rows]
            yield step, tuple(lines if "order by" in text.lower() else sorted(lines))


def _time(commit: Mapping[str, Any]) -> str:
    return str(commit["commit_time"])


def expected(step: Step, engine: str) -> tuple[str, ...] | None:
    """The rows of a step; None for what is no query, or is refused."""
    if engine in step.refused_by or step.rows is None:
        return None
    return step.hudis if engine == "hudi" and step.hudis is not None else step.rows


def shown(value: Any) -> str:
    """A value as files have it, whichever engine gave it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return str(value.replace(tzinfo=None))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return json.dumps(value, default=str)
    return str(value).encode("unicode_escape").decode() if "\n" in str(value) or "\t" in str(value) else str(value)
