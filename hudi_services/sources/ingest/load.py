"""An ingestion's part in the transaction of its write."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from hoodie.errors import CorruptTableError, MissingFileError, PendingInstantError, SourceError, StaleRowsError
from hoodie.timeline import WRITE_ACTIONS
from hoodie.transaction.create import never_committed
from hoodie.view import TableState
from hoodie.write.staleness import refuse_stale
from hudi_services.sources.ingest.expectations.key_check import KeyCheck
from hudi_services.sources.ingest.expectations.results import DIFFERENT_KEYS, CheckResult, encoded
from hudi_services.sources.ingest.prepare import Prepared
from hudi_services.sources.ingest.quarantine import EXTRA, Counts, QuarantineWriter
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.target import check_still_new
from hudi_services.sources.positions import find_position, newest_load

_log = logging.getLogger(__name__)
_MOST, _FEW = 0.2, 20  # share and number of bad rows above which their columns are probably declared wrong
_MARKS = re.compile(r"`csv: \{(?:decimal|thousands)_mark: .*?\}`")  # in the reason of a bad row
_OF_COLUMNS = (
    "correct the columns and types of `source.schema` in the registry, as the command infer finds them in the files, or "
    "repair the source"
)
_OF_REASONS = {
    "is not among the columns": "declare the field in `schema` of the source, or say `undeclared: keep` or `undeclared: drop`",
    "Casting from timestamp[ns": "write the times with microseconds in the files, or declare the column as bigint in `schema` "
    "of the source, which counts nanoseconds",
    "would be the number": "declare the column by `cast` of the source: as a number, or as a string of a new table",
}
"""The remedies by a part of the reason."""
_OF_SHARE = "repair the source, or allow more with `quarantine: {max_share: …}` of the source in the registry, or --max-bad-share"


@dataclass
class Load:
    """One run. `untyped` are ordering columns of a new table that have no value in any row, `checks` the results of the checks of
    its data, `keys` the check of its keys when they are written. Rows took values from the table as it was in `stored_at`, None:
    no row did. Others that write the same rows at the same time conflict with the load, unless they are `non_blocking`."""

    request: IngestRequest
    prepared: Prepared
    quarantine: QuarantineWriter
    untyped: tuple[str, ...]
    checks: tuple[CheckResult, ...]
    keys: KeyCheck
    stored_at: TableState | None = None
    non_blocking: bool = False
    counts: Counts = field(default_factory=Counts)
    _commits: bool = False
    _refused: bool = False

    def begin(self, state: TableState) -> None:
        """Raise PendingInstantError if another run was faster, and remove what killed runs left. Runs under the table's lock."""
        if self.prepared.table is None:
            check_still_new(state, self.prepared.properties)
        self.check_position(state)
        self._check_rows(state)
        if any(instant.action in WRITE_ACTIONS for instant in state.timeline.pending):
            return  # a living writer's, perhaps an ingestion's: what it has put aside is not left by a killed run
        key = self.request.source.position_key
        with suppress(
            CorruptTableError, MissingFileError
        ):  # --start-fresh has decided to go on without the commits before
            # A commit of this source without bad rows came after what runs before it had to finish: no need to look further.
            self.quarantine.finish_killed(lambda: newest_load(state, key, EXTRA).get(EXTRA, ""))

    def check_position(self, state: TableState) -> None:
        """Check that the position is still the one of the plan. Runs under the table's lock, also after commits of other
        writers.

        Raises PendingInstantError if one of them was an ingestion, which may have loaded the same files.
        """
        key, start_fresh = self.request.source.position_key, self.request.start_fresh
        if self.prepared.first and not never_committed(state):
            raise PendingInstantError(
                f"Another writer committed to {self.request.base_path} before its history was loaded",
                fix="run again: the rows are then loaded by the operation that looks for their keys",
            )
        if find_position(state, key, start_fresh=start_fresh) != self.prepared.position:
            raise PendingInstantError(
                f"Another ingestion committed to {self.request.base_path} during this run",
                fix="run again: what is still new is then loaded",
            )
        if self.non_blocking:
            self._check_rows(state)

    def _check_rows(self, state: TableState) -> None:
        """Raise PendingInstantError if the rows changed from which the load took values."""
        if self.stored_at is None:
            return
        try:
            refuse_stale(self.stored_at, state)
        except StaleRowsError as error:
            raise PendingInstantError(
                f"Another writer committed to {self.request.base_path} after this run had taken values from its rows",
                found=error.found,
                fix="run again: the values are then those of now",
            ) from None

    def check_keys(self, combined: int) -> None:
        """Raise RecordKeyError if the `combined` rows were dropped by a wrong key, and keep a check that failed. A write that is
        planned again after a conflict checks them again."""
        self.checks = tuple(result for result in self.checks if result.check != DIFFERENT_KEYS)
        counts = self.quarantine.totals() if combined else Counts()
        failed = self.keys.after_write(combined, counts.read - counts.filtered - counts.bad)
        if failed is not None:
            _log.warning("The load drops rows: %s", failed)
            self.checks = (*self.checks, failed)

    def before_commit(self) -> Mapping[str, str]:
        """The extra metadata of the commit: position and quarantine. Raises SourceError when too many rows are bad."""
        self.counts = self.quarantine.totals()
        error = too_many_bad(self.counts, self.request, f"; all rows and reasons are in {self.quarantine.path}")
        if error is not None:
            self._refused = True
            raise error
        if self.untyped:
            raise SourceError(
                f"Ordering column {self.untyped[0]!r} has no value in any row of {self.request.source.name}",
                found="so its type is not known; a table that orders by text would keep 9 rather than 10",
                fix="run again when there are rows with values; nothing was loaded",
            )
        self._commits = True
        position = {self.request.source.position_key: self.prepared.batch.position}
        return position | encoded(self.checks) | ({EXTRA: self.quarantine.path} if self.counts.bad else {})

    def failed(self) -> None:
        """Keep the bad rows if it is because of them; after the commit was tried, leave it to the next run to find out."""
        if not self._commits:
            self.quarantine.finish(keep_rows=self._refused, refused=self._refused)


def too_many_bad(counts: Counts, request: IngestRequest, where: str = "") -> SourceError | None:
    """The error of a load with more bad rows than its request allows. `where` says where they are."""
    read, bad, share = counts.read, counts.bad, request.max_bad_share
    if bad <= share * read:
        return None
    return SourceError(
        f"{bad} of {read} rows from {request.source.name} cannot be loaded",
        found=f"more than the allowed share of {share:.2%}, such as {counts.example}{where}",
        fix=f"{_remedy(counts)}; nothing was loaded",
    )


def _remedy(counts: Counts) -> str:
    remedy = _OF_COLUMNS if counts.bad > max(_FEW, _MOST * counts.read) else _OF_SHARE
    for part, other in _OF_REASONS.items():
        if part in counts.example:
            return f"{other}; or {remedy}"
    keys = " or ".join(_MARKS.findall(counts.example))
    return f"write {keys} below `source` in the registry, if numbers are written so; or {remedy}" if keys else remedy
