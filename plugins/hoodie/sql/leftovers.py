"""Tables that a CREATE TABLE … AS SELECT left behind without rows, as it failed or was killed.

Others may have opened such a table, so that it is not deleted. It has a mark, and as long as it never had a commit it has no
name, and a CREATE TABLE makes a new table of it.
"""

from __future__ import annotations

from hoodie.clock import SystemClock
from hoodie.config.properties.store import load_properties
from hoodie.errors import TableNotFoundError
from hoodie.storage import Storage
from hoodie.transaction.create import is_left_behind
from hoodie.view import load_state

OF_QUERY = {"hoodie_sql.created.by": "create table as select"}
"""The mark, among the table's properties. It means nothing once there is a commit."""


def is_unfilled(storage: Storage) -> bool:
    """True where all that was ever done to a table is that a query was to fill it. Raises what opening a table raises, but not
    TableNotFoundError."""
    clock = SystemClock()
    try:
        stored = load_properties(storage, clock).raw
    except TableNotFoundError:
        return False
    # Most tables have no mark, and their timelines are not listed.
    return OF_QUERY.items() <= stored.items() and is_left_behind(load_state(storage, clock), OF_QUERY)
