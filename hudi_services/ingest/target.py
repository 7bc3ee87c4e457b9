"""The table that an ingestion loads into: the one that is there, or a new one.

A first load that fails leaves its table behind, empty: others may have opened it, so nobody deletes it. It has a mark, and as
long as it never had a commit the next load gives it the properties of a new table.
"""

from __future__ import annotations

from hoodie.config import CREATE_KEYS, select_keys
from hoodie.config.concurrency_keys import SHARING_KEYS
from hoodie.config.create import new_table_properties
from hoodie.config.key import Given, resolve
from hoodie.config.lock_keys import LOCK_KEYS
from hoodie.config.same_keygen import with_keygen_options
from hoodie.config.same_table import check_same_table
from hoodie.config.table import TableProperties
from hoodie.engine import Engine
from hoodie.errors import ConfigError, PendingInstantError
from hoodie.storage import open_storage
from hoodie.table import HoodieTable
from hoodie.transaction.create import create_table, is_left_behind, never_committed, recreate_table
from hoodie.transaction.locks import Locking
from hoodie.transaction.sharing import Sharing
from hoodie.view import TableState

_SHARED_KEYS = (*LOCK_KEYS, *SHARING_KEYS)
FIRST_LOAD = {"hudi_services.created.by": "ingest"}
"""The mark, among the table's properties. It means nothing once there is a commit."""


def properties_of_new(options: Given) -> TableProperties:
    """The properties of the table that a first load creates. Raises ConfigError."""
    return new_table_properties(resolve(select_keys(options, CREATE_KEYS), CREATE_KEYS)).with_values(FIRST_LOAD)


def is_left_by_first_load(state: TableState) -> bool:
    """True where all that was ever done to a table is that a first load created it."""
    return is_left_behind(state, FIRST_LOAD)


def create_target(base_path: str, options: Given, engine: Engine, left: HoodieTable | None) -> HoodieTable:
    """A new table; or `left`, which a failed first load left behind, as a new one.

    Raises HoodieError, PendingInstantError when somebody has begun to use the table.
    """
    created = select_keys(options, CREATE_KEYS)
    if left is None:
        create_table(open_storage(base_path), created, None, FIRST_LOAD)
        return HoodieTable.open(base_path, engine=engine)
    chosen = resolve(select_keys(options, _SHARED_KEYS), _SHARED_KEYS)
    locking, sharing = Locking.of(chosen), Sharing.of(chosen)
    recreate_table(left.storage, left.clock, created, FIRST_LOAD, locking, sharing=sharing)
    return left


def check_still_new(state: TableState, properties: TableProperties) -> None:
    """Under the lock of the first write. Raises PendingInstantError when another first load made another table of it."""
    for name, value in properties.raw.items():
        if state.properties.raw.get(name) != value:
            raise PendingInstantError(
                f"Another ingestion made a table of other options at {state.storage.base_path} meanwhile",
                found=f"{name}={state.properties.raw.get(name)} instead of {value}",
                fix="run again, with the options that are meant",
            )


def check_same(state: TableState, given: Given) -> None:
    """Options that shape a table cannot change it later. Raises ConfigError naming the first that differs."""
    try:
        wanted = resolve(given, CREATE_KEYS)
        with_keygen_options(state.properties, wanted)
        check_same_table(state.properties, wanted)
    except ConfigError as error:
        if not never_committed(state):
            raise
        raise ConfigError(
            error.what,
            found=f"{error.found or 'another value'}; the table never had a commit",
            fix=f"correct the option; or, if nobody else uses the empty table, remove {state.storage.base_path} and run again",
        ) from None
