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


def successes(look: Look, shown: Mapping[str, Any]) -> Mapping[str, str]:
    """Completion times (ISO 8601, UTC) by service, from the values that `hudi-services show table` prints of the table."""
    found: dict[str, str] = {}
    for service, completed in _completed(look, shown):
        found[service] = max(found.get(service, ""), completed)
    return found


def _completed(look: Look, shown: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for each in shown["services"]:
        if each["action"] in _OF_ACTIONS:
            yield _OF_ACTIONS[each["action"]], each["completed"]
    instants = {str(each.time): each for each in look.state.timeline.commits}
    for each in shown["last_commits"]:
        operation = str(each["operation"] or "").lower()
        if operation in _OF_OPERATIONS:
            yield _OF_OPERATIONS[operation], each["completed"]
        elif not each["moves_rows"] and _is_load(look, instants.get(each["instant"])):
            yield from ((service, each["completed"]) for service in _LOADS)


def _is_load(look: Look, instant: Instant | None) -> bool:
    return instant is not None and any(key.startswith(_LOADED) for key in read_once(look, instant).extra)
