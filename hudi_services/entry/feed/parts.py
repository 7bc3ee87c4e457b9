"""Values of which declarations are made."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from hoodie.times import duration


class Part(BaseModel):
    """Base of everything that users declare: frozen, and an unknown option is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def one_or_more(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(one_or_more)]
"""One text, or a list of them."""


_LONGEST = timedelta(days=36_500)  # Airflow adds deadlines to dates, which end with the year 9999


def _duration(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError(f"{value} has no unit; write 30s, 5m, 2h or 1d")
    length = duration(value) if isinstance(value, str) else value
    if isinstance(length, timedelta) and length > _LONGEST:
        raise ValueError(f"{value!r} is longer than 100 years")
    return length


Duration = Annotated[timedelta, BeforeValidator(_duration)]
"""A duration, such as 30s, 5m, 2h or 1d."""
