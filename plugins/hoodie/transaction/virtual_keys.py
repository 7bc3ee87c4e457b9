"""Switching virtual keys on for a table that has filled its meta columns so far (format notes, section 5.5)."""

from __future__ import annotations

from hoodie.config.properties.store import update_properties
from hoodie.config.properties.table import POPULATE_META_FIELDS
from hoodie.transaction.locks import verify_held
from hoodie.transaction.transaction import Transaction


def switch_on_virtual_keys(tx: Transaction) -> None:
    """Switch readers and writers to keys made of the key columns from now on.

    It comes before the first file without keys: read as before, the rows of such a file would all have the key null. Files
    with keys stay as they are.
    """
    properties = tx.state.properties
    if not properties.virtual_keys:
        verify_held()
        update_properties(tx.state.storage, properties.with_values({POPULATE_META_FIELDS: "false"}))
        tx.refresh()
