"""Findings that each look at a table makes, as the doctor does, without opening a file."""

from __future__ import annotations

from typing import Any

from hoodie.doctor.catalogue import FUTURE_INSTANT, FUTURE_SERVICE_INSTANT
from hoodie.doctor.checks.shape import crowded
from hoodie.doctor.gather import small_file_limit
from hoodie.view.future import Future
from hudi_services.operations.inspect.table_look import Look


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
    """True if a partition has many small files, by the limit of the table's loads."""
    loader = look.entry.loader if look.entry is not None else "ingest"
    limit = small_file_limit({loader: look.options(loader)})
    return any(True for _ in crowded(look.view.slices, limit))
