"""What a transaction commits."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

from hoodie.model.commit import CommitMetadata
from hoodie.model.files import GroupId
from hoodie.timeline import Instant
from hoodie.transaction.window import Window


def _nothing(_meanwhile: Window) -> None:
    """For a change that gets on with whatever others have done."""


@dataclass(frozen=True)
class Change:
    """What an instant did. `more` is asked for further extra metadata when all else is done but the completion.

    `touched` are file groups that it goes by besides those that it wrote to. `meets` looks at what others have completed since
    the change began, and raises when the change must not be completed beside it. For partitions that it `overwrites` it stands
    whole: what others have changed in them since then would be lost. A change that `appends` under non-blocking concurrency
    control has no conflict with logs of others: readers decide between the rows.
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

    def whole(self) -> Change:
        """With what `more` gives."""
        extra = {**self.metadata.extra, **self.more()}
        return replace(self, metadata=replace(self.metadata, extra=extra), more=dict)
