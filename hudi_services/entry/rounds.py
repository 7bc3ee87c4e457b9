"""What a registry may say of a DAG that goes through all of its tables."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hudi_services.entry.feed.model import Part
from hudi_services.entry.table import Cron


class Rounds(Part):
    """When it looks at the tables (cron, UTC; else by hand), how many at once, and what is Airflow's."""

    schedule: Cron | None = None
    at_once: Annotated[int, Field(ge=1, le=64)] = 8
    pool: str = "default_pool"
    owner: str = "airflow"
