"""Everything that commands which look at a table need: loaded when one of them runs."""

from hudi_services.cli.render import print_page
from hudi_services.operations.inspect.audit import audit
from hudi_services.operations.inspect.changes import changes
from hudi_services.operations.inspect.consumers import consumers
from hudi_services.operations.inspect.contents import files, partitions, slices
from hudi_services.operations.inspect.data_file import data_file
from hudi_services.operations.inspect.difference import difference
from hudi_services.operations.inspect.history import commits, timeline
from hudi_services.operations.inspect.locks import locks
from hudi_services.operations.inspect.logs import logs
from hudi_services.operations.inspect.properties import properties
from hudi_services.operations.inspect.quarantine import quarantine
from hudi_services.operations.inspect.rows import rows
from hudi_services.operations.inspect.table_look import look_at

__all__ = [
    "audit",
    "changes",
    "commits",
    "consumers",
    "data_file",
    "difference",
    "files",
    "locks",
    "logs",
    "look_at",
    "partitions",
    "print_page",
    "properties",
    "quarantine",
    "rows",
    "slices",
    "timeline",
]
