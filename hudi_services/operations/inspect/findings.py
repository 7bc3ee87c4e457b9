"""Findings that each look at a table makes, as the doctor does, without opening a file."""

from __future__ import annotations

from typing import Any

from hoodie.doctor.catalogue import FUTURE_INSTANT, FUTURE_SERVICE_INSTANT
from hoodie.doctor.checks.shape import MANY, crowded
from hoodie.doctor.gather import small_file_limit
from hoodie.view.future import Future
from hudi_services.operations.inspect.table_look import Look

_SOME = 4  # small files of a partition, of which one would do
_MANY = 500  # such files of all partitions


def finding_rows(look: Look) -> list[dict[str, Any]]:
    """The findings in values. Instants that are dated ahead are a warning: reads and writes work, and no row is wrong."""
    future = Future.of(look.state.timeline, look.now, look.state.zone)
    if future is None:
        return []
    check = FUTURE_SERVICE_INSTANT if future.can_be_redated else FUTURE_INSTANT
    return [
        {
            "check": check.name,
            "title": f"{future.title} ({look.state.layout.path(future.first)})",
            "detail": future.detail,
            "remedy": future.fix,
            "fixable": check.fixed,
            "grave": False,
        }
    ]


def has_crowded_partitions(look: Look) -> bool:
    """True if a partition has many small files, by the limit of the table's loads, or if many partitions have some that would fit
    into a quarter."""
    loader = look.entry.loader if look.entry is not None else "ingest"
    limit = small_file_limit({loader: look.options(loader)})
    small_files = [len(small) for _, small in crowded(look.view.slices, limit, _SOME)]
    return max(small_files, default=0) >= MANY or sum(small_files) >= _MANY
