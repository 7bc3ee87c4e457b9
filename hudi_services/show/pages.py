"""Everything that commands which look at a table need: loaded when one of them runs."""

from hudi_services.show.audit import audit
from hudi_services.show.changes import changes
from hudi_services.show.consumers import consumers
from hudi_services.show.contents import files, partitions, slices
from hudi_services.show.data_file import data_file
from hudi_services.show.difference import difference
from hudi_services.show.history import commits, timeline
from hudi_services.show.locks import locks
from hudi_services.show.logs import logs
from hudi_services.show.look import look_at
from hudi_services.show.overview import overview
from hudi_services.show.properties import properties
from hudi_services.show.render import print_page
from hudi_services.show.rows import rows

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
    "overview",
    "partitions",
    "print_page",
    "properties",
    "rows",
    "slices",
    "timeline",
]
