"""Results of comparisons of a server's tables, in the server's folder of states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from hoodie.storage import Storage
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.cdc.file_sequence import FileSequence

_KEPT = 20


@dataclass(frozen=True)
class TableVerification:
    """A table at a cut, by its name at the server: `equal`, it `differs` in some rows, or it was `left` out for a reason.

    `verified_at` is an ISO time by the clock of the machine that compared it.
    """

    table: str
    state: Literal["equal", "differs", "left"]
    cut: int
    position: str
    verified_at: str
    rows: int = 0
    differing: int = 0
    reason: str = ""


@dataclass(frozen=True)
class VerifiedTables:
    """The last comparison of each table, by its name. Number 0 is stored nowhere."""

    number: int = 0
    tables: Mapping[str, TableVerification] = field(default_factory=dict)

    def followed_by(self, results: Iterable[TableVerification]) -> VerifiedTables:
        """Return what is stored after more results. Tables that were left out keep earlier ones."""
        compared = {result.table: result for result in results if result.state != "left"}
        return VerifiedTables(self.number + 1, {**self.tables, **compared})


@dataclass(frozen=True)
class VerificationStore:
    """The comparisons of the server `server` in a folder."""

    storage: Storage
    server: str

    def latest(self) -> VerifiedTables:
        """Return the newest results, empty ones where there are none. Raises CorruptTableError for a file that cannot be read."""
        newest = self._files.latest()
        if newest is None:
            return VerifiedTables()
        number, body = newest
        try:
            return VerifiedTables(
                number, {name: TableVerification(**values) for name, values in body["tables"].items()}
            )
        except (TypeError, KeyError, AttributeError) as error:
            raise self._files.unreadable(number, error) from error

    def put(self, verified: VerifiedTables) -> None:
        """Store results. Raises PendingInstantError where another process stored this number."""
        self._files.put(
            verified.number, {"tables": {name: asdict(verification) for name, verification in verified.tables.items()}}
        )

    @property
    def _files(self) -> FileSequence:
        return FileSequence(self.storage, self.server, "verifications", _KEPT, "result of a comparison")


def left_out(table: str, cut: Cut, reason: str) -> TableVerification:
    """Return the result of a table that was not compared at a cut."""
    return TableVerification(table, "left", cut.number, cut.position, "", reason=reason)
