"""Switching virtual keys on for a table that has filled its meta columns so far (format notes, section 5.5)."""

from __future__ import annotations

from hoodie.clock import Clock
from hoodie.config.store import update_properties
from hoodie.config.table import POPULATE_META_FIELDS
from hoodie.view.state import TableState, load_state


def switch_on_virtual_keys(state: TableState, clock: Clock) -> TableState:
    """Tell readers and writers to make keys of the key columns from now on; the state after it. Call it under the lock.

    It comes before the first file without keys: read as before, the rows of such a file would all have the key null. Files
    with keys stay as they are.
    """
    if state.properties.virtual_keys:
        return state
    update_properties(state.storage, state.properties.with_values({POPULATE_META_FIELDS: "false"}))
    return load_state(state.storage, clock)
