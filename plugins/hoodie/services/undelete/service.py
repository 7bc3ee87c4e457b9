"""Putting back what a clean has set aside, as a service: it acts at once, under the table's lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import UNDELETE_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.config.partitions import partition_path
from hoodie.display import counted
from hoodie.engine.base import Engine
from hoodie.model.time import Time
from hoodie.services.decision import Decision
from hoodie.services.service import checked_instant
from hoodie.services.undelete.plan import TrashFile, UndeletePlan, decide_undelete
from hoodie.storage.base import Storage
from hoodie.transaction.audit import Audited, AuditedFile, audited
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.guard import check_data_files, delete_metadata_folder
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.locks import Locking, ensure_held
from hoodie.transaction.transaction import transaction
from hoodie.view import TableState
from hoodie.view.access import TableAccess

_BATCH = 64  # files that one task moves


@dataclass(frozen=True)
class UndeleteRun:
    """Files that were put back."""

    decision: Decision[UndeletePlan]
    files: int


@dataclass(frozen=True)
class Undelete:
    """Puts back what cleans have set aside: that of one instant (None: all), in the named partitions (none named: in all)."""

    clean: str | None = None
    partitions: tuple[str, ...] = ()
    name: str = "undelete"
    options: OptionGroup = UNDELETE_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[UndeletePlan]:
        """See `decide_undelete`."""
        clean: Time | None = checked_instant(self.clean) if self.clean is not None else None
        return decide_undelete(state, clean, [partition_path(name) for name in self.partitions])

    def run(self, access: TableAccess, options: RawOptions) -> UndeleteRun:
        """Decide, and do it. Safe to kill at any point: a file is where it was or aside, and the next run moves the rest.

        Raises what `decide_undelete` raises, and LockHeldError.

        The table's rows of now do not change. A metadata table, which would not know the files, is switched off first.
        """
        resolved = resolve(options, self.options.keys)
        locking, sharing = Locking.of(resolved), ConcurrencyOptions.of(resolved)
        access.state()  # refuse before taking the lock
        with transaction(access.storage, access.clock, "undelete", locking, sharing) as tx:
            decision = self.decide(tx.state, options, access.clock)
            if decision.plan is None:
                return UndeleteRun(decision, 0)
            files = decision.plan.files
            check_data_files(access.storage, {file.path for file in files})
            why = f"put back; set aside by {', '.join(sorted({f'clean {file.aside.clean}' for file in files}))}"
            action = Audited(new_time(tx.state, access.clock), self.name, why, "")
            with audited(access.storage, access.clock, action, [AuditedFile(file.path, file.size) for file in files]):
                _put_back(access.storage, files, access.engine)
            return UndeleteRun(decision, len(files))

    def report(self, run: UndeleteRun) -> tuple[str, str | None]:
        """The message about the files; an undelete has no instant on the timeline."""
        if run.decision.plan is None:
            return f"nothing to do: {run.decision.reason}", None
        return f"{counted(run.files, 'file')} put back; {run.decision.reason}", None


def _put_back(storage: Storage, files: Sequence[TrashFile], engine: Engine) -> None:
    """Raises LockLostError: while an undelete was stopped for long, other writers may have changed the files of its plan."""
    batches = [files[start : start + _BATCH] for start in range(0, len(files), _BATCH)]
    for start in range(0, len(batches), engine.parallelism):
        ensure_held()
        for _ in engine.map(MoveBack(storage), batches[start : start + engine.parallelism]):
            pass
    for aside in {file.aside for file in files}:
        if not any(aside.files(storage)):
            delete_metadata_folder(storage, aside.folder)


@dataclass(frozen=True)
class MoveBack:
    """Task function: moves files back to where they were."""

    storage: Storage

    def __call__(self, files: Sequence[TrashFile]) -> int:
        return sum(self.storage.move(file.place, file.path) for file in files)
