"""Paths of the registry, which many processes read."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from hoodie.model.place import is_relative


def _whole(value: str) -> str:
    """Refuse a path that begins in the working directory, which is another one for each process, Airflow among them. So does one
    with a space, a line break or `~` before its name. A variable that is left is one that is not set, which is a mistake by
    itself."""
    is_elsewhere = is_relative(value) and not value.startswith("${")
    if not value.isprintable() or value != value.strip() or not value or is_elsewhere:
        raise ValueError(
            f"{value!r} is not a whole path: it would be another folder for each process. Write it whole, such as "
            "/data/lake/orders, or a URL"
        )
    return value


Place = Annotated[str, AfterValidator(_whole)]
"""A path that is the same folder for each process, or a URL."""
