"""The flags and form fields by which a run loads data again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from hoodie.config import select_keys
from hoodie.config.keys.write import DUP_POLICY
from hoodie.config.operations import Operation
from hoodie.errors import ConfigError
from hudi_services.entry.dag import Field

FLAGS = (
    click.Option(["--reload"], is_flag=True, help="Load files of the range again although they were loaded before."),
    click.Option(
        ["--reload-since"],
        metavar="INSTANT",
        help="Load again what commits after this one loaded, and what is new. It must be on the active timeline.",
    ),
    click.Option(
        ["--files"],
        multiple=True,
        metavar="PATTERN",
        help="Load only files of these paths below the source: a folder such as dt=2026-01-03/, or a pattern of "
        "docs/how-to/load-files.md, such as orders_*.csv. Repeatable.",
    ),
)
START_FRESH = Field(
    "start_fresh",
    "Load all of the source again",
    "Forgets the position. Rows that the source does not have any more stay.",
    False,
    {"type": "boolean"},
)
FIELDS = (
    Field(
        "files",
        "Only these files",
        "Folders below the source, such as dt=2026-01-03/, or patterns, such as orders_*.csv, one a line. Empty: all.",
        None,
        {"type": ["null", "array"], "items": {"type": "string", "pattern": "^[^/]"}},
    ),
    Field(
        "reload",
        "Load again",
        "Also files that were loaded before: all of these dates and paths. Choose explain first.",
        False,
        {"type": "boolean"},
    ),
    Field(
        "reload_since",
        "Load again since",
        "An instant of the timeline: what commits after it loaded is loaded again.",
        None,
        {"type": ["null", "string"], "pattern": "^([0-9]{14}([0-9]{3})?)?$"},
    ),
)


def flags_of(params: Mapping[str, Any]) -> list[str]:
    """Return the flags of the form's fields. Raises ValueError where two of these contradict each other."""
    if params.get("reload") and params.get("reload_since"):
        raise ValueError("reload contradicts reload_since: keep one of them")
    result = [part for pattern in params.get("files") or () for part in ("--files", str(pattern))]
    result += ["--reload"] if params.get("reload") else []
    return result + (["--reload-since", str(params["reload_since"])] if params.get("reload_since") else [])


def only_files(patterns: Sequence[str]) -> tuple[str, ...]:
    """The patterns of `--files`, a folder being all that is in it. Raises ConfigError for one that leads out of the source."""
    for pattern in patterns:
        if not pattern.strip() or pattern.startswith("/") or ".." in pattern.split("/"):
            raise ConfigError(
                f"--files takes no {pattern!r}",
                found="paths are those below the folder of the source",
                fix="write a folder such as dt=2026-01-03/, or a pattern such as orders_*.csv",
            )
    return tuple(f"{pattern}**" if pattern.endswith("/") else pattern for pattern in patterns)


def check_again(
    operation: Operation, options: Mapping[str, object], *, reload: bool, since: str | None, start_fresh: bool
) -> None:
    """Raises ConfigError where the flags contradict each other, or the operation would add the rows a second time."""
    if since is not None and (reload or start_fresh):
        other = "--reload" if reload else "--start-fresh"
        raise ConfigError(f"--reload-since contradicts {other}", fix="keep one of them")
    if not (reload or since is not None) or operation.finds_keys or operation.replaces is not None:
        return
    if select_keys(options, [DUP_POLICY]):
        return
    raise ConfigError(
        f"Operation {operation.name} would add rows that are loaded again a second time",
        found="--reload" if reload else f"--reload-since {since}",
        fix=f"pass --operation upsert; where the rows are gone from the table, or may be there twice, say {DUP_POLICY.name}=NONE",
    )
