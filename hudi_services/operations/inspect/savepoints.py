"""Savepoints that keep files where the next clean does not look: it looks at partitions that have changed since the last one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hoodie.config.keys import clean as keys
from hoodie.services.blockers import Blocker
from hoodie.services.clean.service import CLEAN
from hoodie.timeline import Action
from hoodie.view.savepoints import savepoints
from hudi_services.operations.inspect.table_look import Look


def with_savepoints(look: Look, options: Mapping[str, object], known: Collection[Blocker]) -> list[Blocker]:
    """The `known` blockers of a clean with these options, and savepoints that it does not meet."""
    instants = {blocker.instant for blocker in known}
    others = [saved for saved in savepoints(look.state) if saved.instant not in instants]
    current = {path for file_slice in look.view.slices for path in file_slice.paths} if others else set()
    if all(current.issuperset(saved.paths) for saved in others):
        return list(known)  # a clean removes no current file, so a plan of all partitions would find nothing
    everywhere = {name: value for name, value in options.items() if name != keys.TRIGGER_COMMITS.name}
    decided = CLEAN.decide(look.state, {**everywhere, keys.INCREMENTAL.name: "false"}, look.clock)
    more = [blocker for blocker in decided.blockers if blocker.action == Action.SAVEPOINT]
    return [*known, *(blocker for blocker in more if blocker.instant not in instants)]
