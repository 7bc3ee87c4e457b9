"""A purge as a service: rows are erased from every file under the table, not only from what readers see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import PURGE_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.engine import LocalEngine
from hoodie.services.decision import Decision
from hoodie.services.purge.erasure import Erasure, PurgeRun
from hoodie.services.purge.journal import FOLDER
from hoodie.services.purge.plan import PurgePlan, decide_purge
from hoodie.services.purge.removal import Wish
from hoodie.services.purge.subject import Subject
from hoodie.view import TableState
from hoodie.view.access import TableAccess


def _nowhere(_subject: Subject) -> None:
    """The table has no copies elsewhere."""


@dataclass(frozen=True)
class Purge:
    """Erases the rows where `condition` (SQL text, see `hoodie.read.filters.text`) is true, from every file under the table.

    Deletes them, rewrites the file groups that hold them, removes the old files of these groups and their copies, and then
    searches every file. Savepoints and consumers hold files back unless `delete_savepoints` and `past_consumers` say otherwise.
    `elsewhere` erases copies outside the table, before the run ends. `agreed_digest` is the digest of a plan that a user has
    approved, past the limits of a run.
    """

    condition: str
    delete_savepoints: bool = False
    past_consumers: bool = False
    agreed_digest: str | None = None
    elsewhere: Callable[[Subject], object] = _nowhere
    name: str = "purge"
    options: OptionGroup = PURGE_OPTIONS

    @property
    def _wish(self) -> Wish:
        return Wish(self.condition, self.delete_savepoints, self.past_consumers)

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[PurgePlan]:
        """See `decide_purge`. Reads every file of the table."""
        return decide_purge(state, self._wish, resolve(options, self.options.keys), clock, LocalEngine())

    def run(self, access: TableAccess, options: RawOptions) -> PurgeRun:
        """See `Erasure.run`. Safe to kill at any point: the next run goes on."""
        return Erasure(access, self._wish, resolve(options, self.options.keys), self.elsewhere).run(self.agreed_digest)

    def report(self, run: PurgeRun) -> tuple[str, str | None]:
        """The message about a run, without a value of the rows, and None: a purge is several instants."""
        outside = run.remaining.outside
        message = self._summary(run) + (
            f"; {outside}, the source of the bootstrap, was not searched" if outside else ""
        )
        return message, None

    def _summary(self, run: PurgeRun) -> str:
        held_files, traces = run.remaining.removal.held_files, run.remaining.unhandled
        if run.decision.plan is None and run.is_erased:
            return "nothing to erase: a search of every file found nothing"
        erased = f"{counted(run.rows, 'row')} deleted"
        if run.is_erased:
            return f"{erased}; a search of every file found nothing more"
        parts = (
            [f"{counted(len(held_files), 'file')} held ({held_files[0].by}; {held_files[0].fix})"] if held_files else []
        )
        parts += (
            [
                f"{traces[0].path} holds {traces[0].contents}"
                + (f", and {len(traces) - 1} more files" if traces[1:] else "")
            ]
            if traces
            else []
        )
        if not run.remaining.is_done:
            parts.append("rows came back during the run; run it again")
        if run.remaining.subject.key_count:
            parts.append(f"{FOLDER} keeps the keys until a run erases everything")
        return f"{erased}; not everything is erased: {'; '.join(parts)}"
