"""Record merging: pure Arrow in, Arrow out."""

from hoodie.merge.base import BaseAddition, BaseMerger, MergedBatch
from hoodie.merge.batch import IDENTITY, latest_per_key
from hoodie.merge.log_rows import newest_per_key
from hoodie.merge.ordering import incoming_wins
from hoodie.merge.overlay import Overlay
from hoodie.merge.partial import PartialRows, PartialUpdate
from hoodie.merge.rules import MergeRules, combined_batch, merge_rules

__all__ = [
    "IDENTITY",
    "BaseAddition",
    "BaseMerger",
    "MergeRules",
    "MergedBatch",
    "Overlay",
    "PartialRows",
    "PartialUpdate",
    "combined_batch",
    "incoming_wins",
    "latest_per_key",
    "merge_rules",
    "newest_per_key",
]
