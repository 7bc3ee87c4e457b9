"""The task that syncs a table with a Hive metastore. It needs no Spark: it runs in the worker."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from hoodie.errors import ConfigError, HoodieError, SchemaConflictError, TableExistsError, UnsupportedTableError
from hoodie_airflow.assets import outlet, table_asset
from hudi_services.registry import Table

# What people must put right: another try would only find it again.
_FINAL: tuple[type[HoodieError], ...] = (ConfigError, SchemaConflictError, TableExistsError, UnsupportedTableError)


class HudiSyncOperator(BaseOperator):
    """Makes the catalog's entries of `table` equal to the table; the result is the task's XCom.

    The commits that it tells of are on the timeline already: a failure costs none of them, and the next run that succeeds tells
    of all. A catalog that is down is tried again; a wrong option, or a table of that name that is another, is not.
    """

    def __init__(self, *, table: Table, **kwargs: Any) -> None:
        super().__init__(pool=table.pool, outlets=[outlet(table, "sync")], **kwargs)
        # No template field: options may hold a password, and rendered fields are shown.
        self.table = table

    def execute(self, context: Any) -> dict[str, Any] | None:
        """Returns the service's result; None for an explained plan."""
        # Imported here: DAG files are parsed often, and Arrow takes a while to load.
        from hoodie import HoodieTable
        from hudi_services.sync import sync_as_text, sync_result

        begun = time.monotonic()
        options = self.table.sync.hoodie if self.table.sync is not None else {}
        try:
            opened = HoodieTable.open(self.table.base_path)
            if context["params"].get("operation") == "explain":
                self.log.info("%s", sync_as_text(opened.explain_sync(options)))
                return None
            result = sync_result(opened.sync(options), time.monotonic() - begun)
        except _FINAL as error:
            raise AirflowFailException(str(error)) from error
        self.log.info("sync of table %s: %s (%.1f s)", self.table.name, result.message, result.seconds)
        if result.instant is not None:
            events = context["outlet_events"][outlet(self.table, "sync")]
            events.add(table_asset(self.table, "sync"), extra={"table": self.table.name, **asdict(result)})
        return asdict(result)
