"""The flag by which a run leaves a record: from the registry's entry of its table, or from Airflow's task."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from hoodie.errors import ConfigError
from hudi_services.entry.table import History, Table
from hudi_services.operations.history.recorder import Asker, Recorded

_NAME = "--recorded"
RECORDED = click.Option([_NAME], hidden=True)
"""The hidden flag for Airflow, which names tables by their paths."""


def recorded_table(entry: Table | None, asker: Asker | None = None) -> Recorded | None:
    """The place of the record; None where the registry names no history for the table, or no registry named the table."""
    if entry is None or entry.history is None:
        return None
    return Recorded(entry.history, entry.name, asker or Asker())


def recorded_flag(recorded: Recorded | None) -> list[str]:
    """The flag that says it, as it is typed."""
    if recorded is None:
        return []
    values = {"history": recorded.history.model_dump(), "table": recorded.table, "asker": asdict(recorded.asker)}
    return [_NAME, json.dumps(values)]


def recorded_of(text: str) -> Recorded:
    """The value of the flag. Raises ConfigError for what `recorded_flag` did not make."""
    try:
        values = json.loads(text)
        return Recorded(History.model_validate(values["history"]), str(values["table"]), Asker(**values["asker"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{_NAME} is not what Airflow's task passes", found=f"{text!r:.100}", fix="leave it out"
        ) from error
