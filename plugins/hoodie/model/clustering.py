"""Plan of a clustering (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hoodie.model.files import GroupId, InGroup

_EMPTY: Mapping[str, Any] = MappingProxyType({})
SORT_AND_SIZE = "org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy"


@dataclass(frozen=True, slots=True)
class ClusteringSlice(InGroup):
    """A file slice that is to be clustered, by the names of its files."""

    partition: str
    file_id: str
    base_file: str | None
    log_files: tuple[str, ...] = ()
    source: str | None = None  # URI of the file with the rows of `base_file`, when that is a skeleton


@dataclass(frozen=True, slots=True)
class ClusteringGroup:
    """Slices of one partition whose rows go together into about `outputs` new files."""

    slices: tuple[ClusteringSlice, ...]
    outputs: int = 1
    metrics: Mapping[str, float] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True, slots=True)
class ClusteringPlan:
    """HoodieClusteringPlan: the slices that a clustering is about to replace.

    `strategy` is the class by which Hudi executes it, `params` its parameters, `hoodie.*` options by name. Names of files are
    absolute in a plan: they begin with `base_path`, which a plan that was read does not have.
    """

    inputs: tuple[ClusteringGroup, ...]
    strategy: str = SORT_AND_SIZE
    params: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    base_path: str = ""

    @property
    def slices(self) -> tuple[ClusteringSlice, ...]:
        """Slices of all its groups."""
        return tuple(file_slice for group in self.inputs for file_slice in group.slices)

    @property
    def groups(self) -> tuple[GroupId, ...]:
        """The file groups that it replaces."""
        return tuple(file_slice.group for file_slice in self.slices)

    @property
    def partitions(self) -> list[str]:
        """Partitions of its slices, sorted."""
        return sorted({file_slice.partition for file_slice in self.slices})
