"""Which files make up the table."""

from hoodie.view.partitions import (
    Choice,
    ChosenFiles,
    PartitionFiles,
    list_all_files,
    list_chosen_files,
    list_partition_files,
    list_partitions,
    list_partitions_below,
    partitions_above,
)
from hoodie.view.replaced import (
    compaction_plan,
    pending_clustering_groups,
    pending_compaction_groups,
    replaced_groups,
)
from hoodie.view.slices import file_groups, latest_slices
from hoodie.view.state import TableState, layout_of, load_state

__all__ = [
    "Choice",
    "ChosenFiles",
    "PartitionFiles",
    "TableState",
    "compaction_plan",
    "file_groups",
    "latest_slices",
    "layout_of",
    "list_all_files",
    "list_chosen_files",
    "list_partition_files",
    "list_partitions",
    "list_partitions_below",
    "load_state",
    "partitions_above",
    "pending_clustering_groups",
    "pending_compaction_groups",
    "replaced_groups",
]
