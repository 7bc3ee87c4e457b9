"""What a task does with the result of its service: told in the log, in the asset's event and as the XCom."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Any

from hoodie_airflow.assets import outlet, table_asset
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.result import ServiceResult

_log = logging.getLogger(__name__)


def told(result: ServiceResult, table: Table, entry: ServiceEntry[Any], context: Any) -> dict[str, Any]:
    """The result as JSON. The event of the table's asset is added only when the run committed something."""
    _log.info("%s of table %s: %s (%.1f s)", result.service, table.name, result.message, result.seconds)
    for each in result.services:
        if each.failed:
            _log.error("The commit stays; %s after it failed: %s", each.service, each.message)
    fields = asdict(result)
    if result.instant is not None:
        events = context["outlet_events"][outlet(table, entry)]
        events.add(table_asset(table, entry), extra={"table": table.name, **fields})
    return fields
