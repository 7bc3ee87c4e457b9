"""Tasks of a paused table: they are skipped, and say who has paused it and why."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk.exceptions import AirflowSkipException

from hoodie.errors import HoodieError
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table

PAUSED = "paused"
"""The XCom of a task that was skipped."""

_log = logging.getLogger(__name__)


def skip_paused(table: Table, entry: ServiceEntry[Any], context: Any) -> None:
    """Before anything is begun. Raises AirflowSkipException.

    A worker may have another network than the cluster, and other rights: where it sees nothing the service looks by itself.
    """
    from hoodie.clock import SystemClock
    from hoodie.storage import open_storage  # loads Arrow, and DAG files are parsed often
    from hudi_services.runtime.pause import read_pause

    if entry.command.mends:
        return
    try:
        table_pause = read_pause(open_storage(table.base_path), SystemClock())
    except (HoodieError, OSError) as error:
        _log.info("The pause of table %s cannot be read here: %s", table.name, error)
        return
    if table_pause is not None:
        context["ti"].xcom_push(PAUSED, table_pause.as_dict())
        raise AirflowSkipException(f"Table {table.name} is paused {table_pause}. `hudi-services resume` ends it")
