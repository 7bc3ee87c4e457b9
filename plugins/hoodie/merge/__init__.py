"""Record merging: pure Arrow in, Arrow out."""

from hoodie.merge.base import DELETE, BaseMerger, MergedBatch
from hoodie.merge.batch import SEQUENCE, has_duplicates, latest_per_key
from hoodie.merge.log_rows import newest_per_key
from hoodie.merge.ordering import incoming_wins

__all__ = [
    "DELETE",
    "SEQUENCE",
    "BaseMerger",
    "MergedBatch",
    "has_duplicates",
    "incoming_wins",
    "latest_per_key",
    "newest_per_key",
]
