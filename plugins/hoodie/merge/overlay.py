"""Rows of logs laid over the rows of a base file, for readers to whom the order of rows is nothing. Pure Arrow in, Arrow out.

`BaseMerger` puts each updated row into its old place, which copies all columns row by row. Here stored rows that no row of the
logs covers are kept, and those of the logs come after them: half the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hoodie.merge.match import Incoming, Meeting
from hoodie.model.meta_columns import RECORD_KEY


class Overlay:
    """The rows that logs add up to, over the rows of one base file."""

    def __init__(self, logs: pa.Table, ordering: Sequence[str], key: str = RECORD_KEY) -> None:
        """`logs` are what `SliceLogs.rows` returns; `ordering` is empty when a row of the logs always wins; `key` is the column
        by which rows meet."""
        self._logs = logs.combine_chunks()
        self._incoming = Incoming(self._logs, ordering, key)
        self._wins = np.zeros(logs.num_rows, dtype=np.int64)

    def uncovered(self, batch: pa.Table) -> pa.Table:
        """The rows of `batch` (key, ordering columns and any other) that no row of the logs replaces or removes."""
        meeting = self.meet(batch)
        if meeting is None:
            return batch
        covered = np.zeros(batch.num_rows, dtype=bool)
        covered[meeting.stored[meeting.replaces | meeting.removes]] = True
        return batch.filter(pa.array(~covered))

    def meet(self, batch: pa.Table) -> Meeting | None:
        """Hold the logs against `batch`: key and ordering columns are enough. None when it has none of their keys."""
        meeting = self._incoming.meet(batch)
        if meeting is not None:
            self._wins += np.bincount(meeting.incoming[meeting.replaces], minlength=len(self._wins))
        return meeting

    def winning_rows(self) -> pa.Table:
        """The winning rows of the logs; call it after the last batch. One that replaced several rows occurs as often."""
        times = np.where(self._incoming.matched, self._wins, 1)
        times[self._incoming.deletes] = 0
        if times.max(initial=0) <= 1:
            return self._logs.filter(pa.array(times > 0))
        return self._logs.take(pa.array(np.repeat(np.arange(len(times)), times)))
