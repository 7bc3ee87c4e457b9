"""The last success of each service of a table, by its timeline: a run by any means counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hoodie.timeline import Instant
from hudi_services.operations.inspect.history import read_once
from hudi_services.operations.inspect.table_look import Look

_OF_ACTIONS = {"clean": "clean", "compaction": "compact", "logcompaction": "compact"}
_OF_OPERATIONS = {"cluster": "cluster", "delete_partition": "ttl", "compact": "compact"}
_LOADS = ("ingest", "stream")
_LOADED = "hudi_services."
"""The prefix of the keys that loads of this platform write into their commits."""


def successes(look: Look, table_values: Mapping[str, Any]) -> Mapping[str, str]:
    """Completion times (ISO 8601, UTC) by service, from the values that `hudi-services show table` prints of the table."""
    result: dict[str, str] = {}
    for service, completed in _completed(look, table_values):
        result[service] = max(result.get(service, ""), completed)
    return result


def _completed(look: Look, table_values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for row in table_values["services"]:
        if row["action"] in _OF_ACTIONS:
            yield _OF_ACTIONS[row["action"]], row["completed"]
    instants = {str(commit.time): commit for commit in look.state.timeline.commits}
    for last_commit in table_values["last_commits"]:
        operation = str(last_commit["operation"] or "").lower()
        if operation in _OF_OPERATIONS:
            yield _OF_OPERATIONS[operation], last_commit["completed"]
        elif not last_commit["moves_rows"] and _is_load(look, instants.get(last_commit["instant"])):
            yield from ((service, last_commit["completed"]) for service in _LOADS)


def _is_load(look: Look, instant: Instant | None) -> bool:
    return instant is not None and any(key.startswith(_LOADED) for key in read_once(look, instant).extra)
