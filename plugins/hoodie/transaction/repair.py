"""Repairs after crashed writers, before a table is changed."""

from __future__ import annotations

from hoodie.clock import Clock
from hoodie.config.properties.store import recover_properties
from hoodie.storage.base import Storage
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import living_writers
from hoodie.transaction.leftovers import delete_remains, marked_instants
from hoodie.transaction.metadata_table import switch_off_metadata_table
from hoodie.transaction.recovery import recovered
from hoodie.transaction.restore import finish_restores
from hoodie.transaction.rollback import rollback_failed_writes
from hoodie.view.state import TableState, load_state


def repaired(storage: Storage, clock: Clock, sharing: ConcurrencyOptions) -> TableState:
    """The state of a table that is ready to be changed. Call it under the lock.

    It completes a half-done update of the properties, finishes restores, rolls failed writes back, switches off a metadata table
    that would go stale, and removes unfinished files of dead processes. Instants of living writers stay; a writer that does not
    share the table is refused beside one by PendingInstantError. Raises UnsupportedTableError for an unknown table version.
    """
    if recover_properties(storage):
        recovered("ended a change of hoodie.properties that was cut short")
    marked = marked_instants(storage)
    state = load_state(storage, clock)
    state.properties.check_changeable()
    living = living_writers(state, clock, sharing)
    changed = switch_off_metadata_table(state)
    if changed:
        recovered(
            "switched off the metadata table, which this write would have left behind; Hudi's next write makes it again"
        )
    if finish_restores(state, clock):
        state = load_state(storage, clock)
    undone = rollback_failed_writes(state, clock, living)
    for plan in undone:
        files = sum(map(len, plan.files.values()))
        recovered(
            f"rolled back instant {plan.instant}, a {plan.action} that did not complete, with {files} files of it"
        )
    if undone or changed:
        state = load_state(storage, clock)
    delete_remains(state, marked)
    return state
