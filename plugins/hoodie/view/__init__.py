"""Files of the table."""

from hoodie.view.files import PartitionFiles, StorageFiles, partitions_above
from hoodie.view.pending_groups import PendingGroups, clustering_plan, compaction_plan
from hoodie.view.state import TableState, load_state
from hoodie.view.table_view import TableView

__all__ = [
    "PartitionFiles",
    "PendingGroups",
    "StorageFiles",
    "TableState",
    "TableView",
    "clustering_plan",
    "compaction_plan",
    "load_state",
    "partitions_above",
]
