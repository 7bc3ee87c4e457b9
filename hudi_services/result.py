"""What a service tells its caller: one line for people, one JSON object for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import click


@dataclass(frozen=True)
class ServiceResult:
    """The outcome of one run. Sizes in bytes; `instant` is None when nothing had to be done, and `message` says why."""

    service: str
    message: str
    instant: str | None = None
    rows_read: int = 0
    rows_written: int = 0
    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    rows_quarantined: int = 0
    files_read: int = 0
    bytes_read: int = 0
    files_written: int = 0
    bytes_written: int = 0
    files_deleted: int = 0
    bytes_deleted: int = 0
    seconds: float = 0.0

    def write(self, path: str) -> None:
        """Store the JSON object, whole or not at all: a caller never reads half of it."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(target.name + ".tmp")
        temporary.write_text(json.dumps(asdict(self), indent=2))
        temporary.replace(target)


def finish(result: ServiceResult, as_json: bool, path: str | None) -> None:
    """Store the result if a `path` was given, and print it for people or programs."""
    if path is not None:
        result.write(path)
    click.echo(
        json.dumps(asdict(result), indent=2)
        if as_json
        else f"{result.service}: {result.message} ({result.seconds:.1f} s)"
    )
