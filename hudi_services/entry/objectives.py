"""The `objectives` of a table: limits on its state, in addition to the schedules of its services."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from hudi_services.entry.feed.model import Duration, Part

RESTORED_BY = {
    "freshness": "ingest",
    "log_ratio": "compact",
    "small_files": "cluster",
    "clean_age": "clean",
    "timeline_length": "archive",
}
"""The service that restores each objective."""


def _share(value: object) -> object:
    """`20%` is 0.2."""
    if not isinstance(value, str) or not value.strip().endswith("%"):
        return value
    try:
        share = float(value.strip()[:-1]) / 100
    except ValueError:
        raise ValueError(f"{value!r} is no share; write 20%") from None
    if not 0 < share < 1:
        raise ValueError(f"{value!r} is no share between 0% and 100%")
    return share


def _count_or_share(value: float) -> float:
    if value > 1 and value != int(value):
        raise ValueError(f"{value} is neither a count of files nor a share below 1, such as 20%")
    return value


Age = Annotated[Duration, Field(gt=timedelta(0))]
CountOrShare = Annotated[
    float, BeforeValidator(_share), Field(ge=0, allow_inf_nan=False), AfterValidator(_count_or_share)
]


class Objectives(Part):
    """Limits on the state of a table. Unset objectives are not checked.

    - `freshness`: the longest time since the last commit with data;
    - `log_ratio`: the most bytes of logs for each byte of base files;
    - `small_files`: the most small files, as a number or as a share of the base files;
    - `clean_age`: the longest time that a commit waits for a clean that has something to remove;
    - `timeline_length`: the most instants on the active timeline.
    """

    freshness: Age | None = None
    log_ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    small_files: CountOrShare | None = None
    clean_age: Age | None = None
    timeline_length: Annotated[int, Field(ge=1)] | None = None

    @property
    def any(self) -> bool:
        return any(getattr(self, name) is not None for name in type(self).model_fields)
