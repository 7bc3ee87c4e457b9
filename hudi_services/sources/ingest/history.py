"""The first load of a table that is filled batch by batch: its history, by an operation of its own."""

from __future__ import annotations

from dataclasses import replace

from hoodie.config import select_keys
from hoodie.config.keys.write import COMBINE_BEFORE_INSERT
from hoodie.config.operations import operation_named
from hoodie.errors import ConfigError
from hudi_services.sources.ingest.request import IngestRequest

OPERATIONS = ("upsert", "insert", "bulk_insert")


def with_history(request: IngestRequest, history: str | None, *, unique_keys: bool = False) -> IngestRequest:
    """The request with the operation `history` for a table without any commit; None: the same as for later loads.

    A source may hold a key several times, and an upsert keeps one row of it. So does the history then, unless keys are unique, or
    the options say otherwise. Raises ConfigError for a request that does not bring rows batch by batch.
    """
    name = request.operation.name
    if name not in OPERATIONS:
        raise ConfigError(
            f"A stream of batches does not write by {name}",
            found="its first load would add rows, and later ones would not",
            fix=f"pass --operation {', '.join(OPERATIONS[:-1])} or {OPERATIONS[-1]}",
        )
    if history is None:
        return request
    options = dict(request.options)
    if name == "upsert" and not unique_keys and not select_keys(options, [COMBINE_BEFORE_INSERT]):
        options[COMBINE_BEFORE_INSERT.name] = "true"
    return replace(request, history=operation_named(history), options=options)
