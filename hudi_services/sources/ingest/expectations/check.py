"""The checks of a load by the expectations of its source."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.read.filters.text import parse_filter
from hoodie.times import span
from hudi_services.entry.feed.expect import Expect, filter_text
from hudi_services.sources.ingest.expectations.duplicates import Repeated, check_unique_columns, tally_and_repeated
from hudi_services.sources.ingest.expectations.results import CheckResult, failed, refuse_failed
from hudi_services.sources.ingest.expectations.tally import Tally, Tallying
from hudi_services.sources.ingest.files.source import FileBatch, FilesSource
from hudi_services.sources.ingest.rows import CheckedSplit
from hudi_services.sources.ingest.source import Batch, Source

_log = logging.getLogger(__name__)


def expectations(source: Source) -> Expect:
    """The expectations that a source declares. Only files have some."""
    return source.feed.expect if isinstance(source, FilesSource) else Expect()


def judged(expect: Expect, source: str, results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The results, which the log has where they failed. Raises SourceError for failed ones that stop the load."""
    if expect.on_failure == "stop":
        refuse_failed(source, results)
    for result in failed(results):
        _log.warning("The data of %s fails a check and is loaded: %s", source, result)
    return tuple(results)


def check_columns(expect: Expect, schema: pa.Schema) -> None:
    """Raises ConfigError for conditions and columns that do not fit the rows of a load."""
    Tallying(expect.conditions, schema).counter()
    check_unique_columns(expect.unique, schema)
    if expect.rows is not None:
        _holds(expect.rows, 0)


def check_rows(expect: Expect, splits: Sequence[CheckedSplit], schema: pa.Schema, engine: Engine) -> list[CheckResult]:
    """Read the rows of a load once, and compare them with the expectations. Raises what reading them raises."""
    tallying = Tallying(expect.conditions, schema)
    if expect.unique:
        tallies, repeated = tally_and_repeated(list(splits), tallying, expect.unique, engine)
    else:
        tallies, repeated = engine.map_input(tallying, list(splits)), Repeated()
    return list(_results(expect, Tally.union(tallies, len(expect.conditions)), repeated))


def check_freshness(source: Source, batch: Batch) -> list[CheckResult]:
    """Compare the time of the newest file of the source, loaded or not, with the expectation. Nothing is read."""
    if not isinstance(source, FilesSource) or not isinstance(batch, FileBatch) or source.feed.expect.freshness is None:
        return []
    return [_freshness(source.feed.expect.freshness, batch.plan.newest_ms, source.clock.now())]


def _freshness(limit: timedelta, newest_ms: int | None, now: datetime) -> CheckResult:
    check = f"freshness {_as_declared(limit)}"
    if newest_ms is None:
        return CheckResult(check, False, "the source has no file")
    newest = datetime.fromtimestamp(newest_ms / 1000, UTC)
    age = now - newest
    age_text = f"the newest file is {span(max(age.total_seconds(), 0))} old, of {newest:%Y-%m-%d %H:%M:%S} UTC"
    return CheckResult(check, age <= limit, age_text)


def _as_declared(limit: timedelta) -> str:
    """A length in the largest unit that divides it."""
    seconds = int(limit.total_seconds())
    units = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
    return next(f"{seconds // size}{unit}" for size, unit in units if seconds % size == 0)


def _results(expect: Expect, tally: Tally, repeated: Repeated) -> Sequence[CheckResult]:
    results = []
    if expect.rows is not None:
        results.append(
            CheckResult(f"rows {expect.rows.strip()}", _holds(expect.rows, tally.rows), counted(tally.rows, "row"))
        )
    for (name, text), broken, example in zip(expect.conditions, tally.broken, tally.examples, strict=True):
        such = f", such as {example}" if example is not None else ""
        rows = f"{broken:,} of {counted(tally.rows, 'row')} {'breaks' if broken == 1 else 'break'} it{such}"
        results.append(CheckResult(f"{name} {text.strip()}", broken == 0, rows))
    if expect.unique:
        such = f", such as {repeated.example}" if repeated.example is not None else ""
        several = f"{counted(repeated.values, 'value')} in {counted(repeated.rows, 'row')}{such}"
        counts_text = several if repeated.values else f"no value in two of {counted(tally.rows, 'row')}"
        results.append(CheckResult(f"unique {', '.join(expect.unique)}", repeated.values == 0, counts_text))
    return results


def _holds(condition: str, count: int) -> bool:
    rows = pa.table({"rows": pa.array([count], pa.int64())})
    return bool(rows.filter(parse_filter(filter_text("rows", condition), rows.schema)).num_rows)
