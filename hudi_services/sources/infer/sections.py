"""Sections of a registry beside its tables, for `infer --objectives`: what a new table should be watched for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

_HOUR = 3600
_LIMITS = {"1h": 1, "3h": 3, "6h": 6, "12h": 12, "26h": 26, "2d": 48, "3d": 72, "8d": 192, "32d": 768}  # hours
_DAILY = "26h"
_SLACK = 1.5  # times the usual time between two files
_APART = 60  # seconds: files of one delivery are closer together


def sections_text(folder: str, modified_ms: Sequence[int]) -> str:
    """The sections `history`, `watch`, `objectives` and `alerts`. `modified_ms` are the times of the files' last changes."""
    return "".join(f"{line}\n" for line in _lines(folder.rstrip("/"), modified_ms))


def _lines(folder: str, modified_ms: Sequence[int]) -> Iterator[str]:
    limit, why = _freshness(modified_ms)
    yield "history:"
    yield f"  path: {folder}_history  # a table with a record of each run; one for all tables?"
    yield "watch: {every: 30}  # seconds between two looks at the tables"
    yield "objectives:"
    yield f"  freshness: {limit}  # {why}"
    yield "  small_files: 50%"
    yield "  clean_age: 2d"
    yield "  timeline_length: 100"
    yield "alerts:"
    yield "  hooks:"
    yield "    - name: operations"
    yield "      url: ${HUDI_ALERTS_URL}  # set this variable to the address of your chat or pager"
    yield "      form: text  # json for programs?"
    yield "  unreadable: 5m"
    yield "  objectives: 1h"
    yield "  blockers: 1d"
    yield "  runs: true"
    yield "  tasks: true"


def _freshness(modified_ms: Sequence[int]) -> tuple[str, str]:
    """The limit, and the reason: a half more than the usual time between two deliveries."""
    deliveries = sorted(moment / 1000 for moment in modified_ms)
    gaps = [later - earlier for earlier, later in pairwise(deliveries) if later - earlier > _APART]
    if len(gaps) < 2:
        return _DAILY, "a day and two hours, as the times of the files do not show how often they come?"
    usual = median(gaps)
    limit = next((text for text, hours in _LIMITS.items() if hours * _HOUR >= _SLACK * usual), "32d")
    hours = usual / _HOUR
    interval = f"{hours:.0f} h" if hours >= 1 else f"{usual / 60:.0f} min"
    return limit, f"by the times of their changes, files come about every {interval}?"
