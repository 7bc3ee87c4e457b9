"""The seconds that a service will take, by its comparable runs: pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.operations.history.record import DONE

_FEWEST = 3  # runs
_TIMES = 4  # runs are comparable if they moved from a quarter to four times the bytes
_AMOUNTS = {"clean": "bytes_freed", "compact": "bytes_read", "cluster": "bytes_read", "ttl": "bytes_freed"}
"""The column of the history that has what the plan's bytes are; runs of other services are all comparable."""


def estimate(service: str, size: int, runs: pa.Table) -> float | None:
    """The median of the seconds of the service's runs that moved about as many bytes as `size`; None with fewer than three.

    `runs` are those of one table, in the columns of the history.
    """
    wanted = pc.and_(pc.equal(runs["service"], service), pc.equal(runs["outcome"], DONE))
    done = runs.filter(pc.and_(wanted, pc.is_valid(runs["seconds"])))
    amount = _AMOUNTS.get(service)
    if amount is not None:
        done = done.filter(
            pc.and_(
                pc.greater_equal(done[amount], size // _TIMES),
                pc.less_equal(done[amount], size * _TIMES),
            )
        )
    seconds: Sequence[float] = done["seconds"].to_pylist()
    return median(seconds) if len(seconds) >= _FEWEST else None
