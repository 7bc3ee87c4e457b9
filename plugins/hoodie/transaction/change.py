"""Changes that a transaction commits."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

from hoodie.model.commit import CommitMetadata
from hoodie.model.files import GroupId
from hoodie.timeline import Instant
from hoodie.transaction.window import Window


def _nothing(_meanwhile: Window) -> None:
    """The check of a change that has no conflicts with other writers."""


@dataclass(frozen=True)
class Change:
    """Change of one instant. `more` is called for further extra metadata as the last step before the completion.

    `touched` are file groups that it depends on in addition to those that it wrote to. `meets` checks the changes that others
    have completed since this one began, and raises on a conflict. In the partitions that it `overwrites` every change of others
    since then is a conflict, as it would be lost. A change that `appends` under non-blocking concurrency control has no conflict
    with logs of others: readers decide between the rows.
    """

    instant: Instant
    metadata: CommitMetadata
    more: Callable[[], Mapping[str, str]] = dict
    touched: frozenset[GroupId] = frozenset()
    meets: Callable[[Window], None] = _nothing
    overwrites: Container[str] = ()
    appends: bool = False

    @property
    def files(self) -> list[str]:
        return [path for stat in self.metadata.stats for path in stat.paths]

    def with_late_metadata(self) -> Change:
        """With what `more` gives."""
        extra = {**self.metadata.extra, **self.more()}
        return replace(self, metadata=replace(self.metadata, extra=extra), more=dict)
