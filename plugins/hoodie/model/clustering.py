"""Plan of a clustering (format notes, section 2.5)."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.model.files import GroupId


@dataclass(frozen=True, slots=True)
class ClusteringPlan:
    """The file groups that a clustering is about to replace."""

    groups: tuple[GroupId, ...]
