"""Results of the checks of a load: their place in its commit, and the error that stops it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from hoodie.display import counted
from hoodie.errors import SourceError

KEY = "hudi_services.checks"
"""The results of a load's checks, in the extra metadata of its commit."""
DIFFERENT_KEYS = "different rows to have different keys"
"""The check of each load of files."""


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: `check` as it is declared, and what was found."""

    check: str
    passed: bool
    found: str

    def __str__(self) -> str:
        return f"expected {self.check}: {self.found}"


def encoded(results: Sequence[CheckResult]) -> dict[str, str]:
    """The entry for the extra metadata of a commit; empty without checks."""
    return {KEY: json.dumps([asdict(result) for result in results], ensure_ascii=False)} if results else {}


def decoded(extra: Mapping[str, str]) -> list[CheckResult]:
    """The results in a commit's extra metadata; none in that of another program."""
    try:
        return [CheckResult(**values) for values in json.loads(extra.get(KEY, "[]"))]
    except (ValueError, TypeError):
        return []


def failed(results: Sequence[CheckResult]) -> list[CheckResult]:
    return [result for result in results if not result.passed]


def summary(results: Sequence[CheckResult]) -> list[str]:
    """A part of the message of a run; none without checks."""
    if not results:
        return []
    wrong = failed(results)
    if not wrong:
        return [f"{counted(len(results), 'check')} passed"]
    return [f"WARNING: {len(wrong)} of {counted(len(results), 'check')} failed: {'; '.join(map(str, wrong))}"]


def refuse_failed(source: str, results: Sequence[CheckResult]) -> None:
    """Raises SourceError with the numbers of the checks that failed."""
    wrong = failed(results)
    if wrong:
        raise SourceError(
            f"The data of {source} fails {counted(len(wrong), 'check')} of {len(results)}",
            found="; ".join(map(str, wrong)),
            fix="correct the files or `expect` of the source, or load them with `on_failure: warn`; nothing was loaded",
        )
