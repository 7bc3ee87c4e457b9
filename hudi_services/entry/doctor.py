"""What a registry may say of the doctor, which looks at all of its tables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hudi_services.entry.dag import DAG_PREFIX
from hudi_services.entry.table import Cron
from hudi_services.feed.model import Part

DOCTOR_DAG = f"{DAG_PREFIX}_doctor"


class Doctor(Part):
    """When the doctor looks at the tables (cron, UTC; else by hand), whether it reads data files, how many tables at once,
    and from which severity on its run fails."""

    schedule: Cron | None = None
    deep: bool = False
    at_once: Annotated[int, Field(ge=1, le=64)] = 8
    fails_on: Literal["damage", "warning"] = "damage"
    pool: str = "default_pool"
    owner: str = "airflow"
