"""The section of a DAG that goes through all tables of a registry."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hudi_services.entry.feed.model import Part
from hudi_services.entry.table import Cron


class Rounds(Part):
    """The schedule (cron, UTC; by hand without one), the number of tables that are checked at once, and Airflow's settings."""

    schedule: Cron | None = None
    at_once: Annotated[int, Field(ge=1, le=64)] = 8
    pool: str = "default_pool"
    owner: str = "airflow"
