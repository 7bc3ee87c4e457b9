"""The seconds that a service will take, by its comparable runs: pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from statistics import median

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.operations.history.record import DONE

_FEWEST = 3  # runs
_TIMES = 4  # runs are comparable if they moved from a quarter to four times the bytes
_AMOUNTS = {"clean": "bytes_freed", "compact": "bytes_read", "cluster": "bytes_read", "ttl": "bytes_freed"}
"""The column of the history that has what the plan's bytes are; runs of other services are all comparable."""


@dataclass(frozen=True)
class Sample:
    """A run that did its work: when it began (ISO 8601), the bytes that it moved (None: its service does not compare by them),
    and its seconds."""

    began: str
    bytes: int | None
    seconds: float


def samples_of(runs: pa.Table, service: str) -> tuple[Sample, ...]:
    """The runs of a service that did its work, as they are ordered in `runs`, which has the columns of the history."""
    condition = pc.and_(pc.equal(runs["service"], service), pc.equal(runs["outcome"], DONE))
    completed_runs = runs.filter(pc.and_(condition, pc.is_valid(runs["seconds"])))
    amount = _AMOUNTS.get(service)
    sizes = completed_runs[amount].to_pylist() if amount is not None else [None] * completed_runs.num_rows
    rows = zip(completed_runs["began"].to_pylist(), sizes, completed_runs["seconds"].to_pylist(), strict=True)
    return tuple(
        Sample(began.astimezone(UTC).isoformat(timespec="microseconds"), size, seconds)
        for began, size, seconds in rows
        if amount is None or size is not None
    )


def estimate(size: int, samples: Iterable[Sample]) -> float | None:
    """The median of the seconds of runs of a service that moved about as many bytes as `size`; None with fewer than three."""
    seconds = [
        sample.seconds for sample in samples if sample.bytes is None or size // _TIMES <= sample.bytes <= size * _TIMES
    ]
    return median(seconds) if len(seconds) >= _FEWEST else None
