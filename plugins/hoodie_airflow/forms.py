"""The forms of the trigger dialog."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from airflow.sdk import Param

from hudi_services.entry.dag import Asked, Field


def form(fields: Iterable[Field]) -> dict[str, Param]:
    """A form of these fields."""
    return {
        field.name: Param(field.default, title=field.title, description=field.description, **field.schema)
        for field in fields
    }


def asked(context: Any, mode: str = "") -> Asked:
    """What a run is asked for, by its form and by Airflow; `mode` is the step's."""
    run = context["dag_run"]
    interval = (run.data_interval_start, run.data_interval_end) if run.data_interval_start else None
    return Asked(mode, context["params"], run.run_type.value, interval)


def wants_explanation(context: Any) -> bool:
    """Whether the form asks for the plan only."""
    found: bool = context["params"].get("operation") == "explain"
    return found
