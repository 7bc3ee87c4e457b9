"""The service `sync`: it registers a table's contents with a Hive metastore or AWS Glue."""

from __future__ import annotations

from hoodie.config import own_options
from hoodie.config.groups import SYNC_OPTIONS
from hoodie.config.keys.sync import BASE_PATH, JDBC_URL, METASTORE_URIS, PASSWORD, USERNAME
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import OPERATION, Arguments, Outlook, Run, RunRequest, Step, Trigger, WhenDue
from hudi_services.entry.preconditions import not_begun
from hudi_services.entry.service import Command, Dag, Section, ServiceEntry
from hudi_services.entry.table import Cron, ServiceSection, Table


class Sync(ServiceSection):
    """The section `sync`: registers new commits with the Hive metastore, after each ingestion and compaction, and on a
    schedule."""

    schedule: Cron | None = None


def _task(call: Call) -> Task:
    from hudi_services.services.sync.task import SyncTask

    return SyncTask(call.base_path, own_options(call.options, SYNC_OPTIONS))


def _trigger(table: Table, section: Sync) -> Trigger:
    """The trigger of a DAG of its own: a catalog that is down must not hold up the next ingestion."""
    compactions = ("compact",) if table.type == "MERGE_ON_READ" else ()
    return Trigger(section.schedule, after=("ingest", *compactions))


def _steps(table: Table, section: Sync) -> tuple[Step, ...]:
    tell = Run("sync", "sync")
    if section.schedule is None or not table.filled_here:
        return (tell,)
    return WhenDue("due", lambda request: not_begun(table) or Outlook(True, f"a run of type {request.run_type}")), tell


def _arguments(_table: Table, section: Sync, _request: RunRequest) -> Arguments:
    return Arguments(options=section.hoodie)


SYNC = ServiceEntry(
    "sync",
    Command(
        "Make the entries of a table in a Hive metastore or AWS Glue equal to the table. Needs no Spark.",
        _task,
        examples=(
            "hudi-services sync --table orders --explain",
            "hudi-services sync --target-base-path /data/lake/orders \\\n"
            "    --hoodie-conf hoodie.datasource.hive_sync.mode=hms \\\n"
            "    --hoodie-conf hoodie.datasource.hive_sync.metastore.uris=thrift://metastore:9083",
            "hudi-services sync --target-base-path s3://lake/orders --hoodie-conf hoodie.datasource.hive_sync.mode=glue",
        ),
    ),
    Section(
        Sync,
        (SYNC_OPTIONS,),
        always=False,
        places=tuple(("hoodie", key.name) for key in (BASE_PATH, JDBC_URL, METASTORE_URIS, USERNAME, PASSWORD)),
        secrets=(PASSWORD,),
    ),
    Dag(_steps, _arguments, _trigger, lambda _table: (OPERATION,)),
)
