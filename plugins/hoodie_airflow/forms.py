"""The forms of the trigger dialog."""

from __future__ import annotations

from airflow.sdk import Param

from hoodie_airflow.dates import Late
from hudi_services.registry import Table

POLICIES = ("KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS", "KEEP_LATEST_BY_HOURS")
_FROM_TABLE = "as in the registry"


def ingest_form(table: Table) -> dict[str, Param]:
    """`operation`, and for files that carry dates `from`, `to` and `catch_up_late`."""
    form = {"operation": _operation()}
    if table.source is None or table.source.date_pattern is None:
        return form
    day = {"type": ["null", "string"], "format": "date"}
    form["from"] = Param(None, title="First date", description="Empty: from the oldest file on.", **day)
    form["to"] = Param(None, title="First date not to load", description="Empty: up to the newest file.", **day)
    form["catch_up_late"] = Param(
        Late.AUTO.value,
        type="string",
        enum=[str(late) for late in Late],
        title="Also load late files",
        description="Files of earlier dates that were not loaded yet. auto: a scheduled run loads them, a backfill does not.",
    )
    return form


def clean_form() -> dict[str, Param]:
    """`operation`, `policy` and `retained`."""
    return {
        "operation": _operation(),
        "policy": Param(
            _FROM_TABLE,
            type="string",
            enum=[_FROM_TABLE, *POLICIES],
            title="Policy",
            description="Which file versions stay.",
        ),
        "retained": Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Retained",
            description="Commits, file versions or hours, as the policy counts. Empty: as in the registry.",
        ),
    }


def compact_form() -> dict[str, Param]:
    """`operation`."""
    return {"operation": _operation()}


def sync_form() -> dict[str, Param]:
    """`operation`."""
    return {"operation": _operation()}


def policy_choice(value: str | None) -> str | None:
    """The policy of the form; None: the registry's."""
    return None if value in (None, _FROM_TABLE) else value


def _operation() -> Param:
    return Param(
        "execute",
        type="string",
        enum=["execute", "explain"],
        title="Operation",
        description="explain prints the plan into the log and changes nothing.",
    )
