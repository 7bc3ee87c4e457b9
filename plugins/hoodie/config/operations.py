"""Write operations (`hoodie.datasource.write.operation`): every operation declared once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from hoodie.config.key import ConfigKey
from hoodie.config.keys import write as keys
from hoodie.errors import ConfigError

DELETE_PARTITION = "delete_partition"


class Replaces(Enum):
    """Part of the table that an operation replaces as a whole, before its own rows count."""

    PARTITIONS = auto()
    """Those of its rows."""
    TABLE = auto()


@dataclass(frozen=True)
class Operation:
    """One operation. `parallelism` is the option with the number of its tasks."""

    name: str
    parallelism: ConfigKey[int]
    finds_keys: bool = False
    """True: rows replace the stored rows of their keys, and one row of each key is written. False: rows are added beside them."""
    deletes: bool = False
    """Only the keys of the rows count: the stored rows of these keys are deleted."""
    packs: bool = True
    """New rows fill small files before they get files of their own."""
    in_one_pass: bool = False
    """Rows go to files as they come, unless they are to be combined."""
    adds: bool = False
    """Rows may be asked whether their keys are stored (`hoodie.datasource.insert.dup.policy`)."""
    replaces: Replaces | None = None
    """None: what is stored under other keys stays."""

    @property
    def writes(self) -> bool:
        """Return whether its rows are written. Rows of other operations only name partitions."""
        return self.replaces is None or not self.deletes


_OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("insert", keys.INSERT_PARALLELISM, adds=True),
        Operation("bulk_insert", keys.BULK_INSERT_PARALLELISM, packs=False, in_one_pass=True),
        Operation("upsert", keys.UPSERT_PARALLELISM, finds_keys=True),
        Operation("delete", keys.DELETE_PARALLELISM, finds_keys=True, deletes=True),
        Operation("insert_overwrite", keys.INSERT_PARALLELISM, packs=False, replaces=Replaces.PARTITIONS),
        Operation("insert_overwrite_table", keys.INSERT_PARALLELISM, packs=False, replaces=Replaces.TABLE),
        Operation(DELETE_PARTITION, keys.DELETE_PARALLELISM, packs=False, deletes=True, replaces=Replaces.PARTITIONS),
    )
}
assert tuple(_OPERATIONS) == keys.OPERATIONS, "the option takes the operations that there are"


def operation_named(name: str | Operation) -> Operation:
    """The operation of this name, or the operation itself. Raises ConfigError for any other name."""
    if isinstance(name, Operation):
        return name
    if not isinstance(name, str) or name not in _OPERATIONS:
        raise ConfigError(f"Operation {name!r} is not known", fix=f"use one of {', '.join(_OPERATIONS)}")
    return _OPERATIONS[name]
