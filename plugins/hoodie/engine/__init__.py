"""Engines: where the work runs."""

from hoodie.engine.base import Block, BucketFn, Buckets, Engine, InputFn, Split
from hoodie.engine.local import LocalEngine
from hoodie.engine.progress import Progress, Stage
from hoodie.engine.splits import ArrowSplit, arrow_splits

__all__ = [
    "ArrowSplit",
    "Block",
    "BucketFn",
    "Buckets",
    "Engine",
    "InputFn",
    "LocalEngine",
    "Progress",
    "Split",
    "Stage",
    "arrow_splits",
]
