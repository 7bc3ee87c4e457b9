"""Checks of an operation and its options against the properties of a table."""

from __future__ import annotations

from hoodie.config.keys import write as keys
from hoodie.config.operations import Operation
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError


def check_policy(properties: TableProperties, operation: Operation, policy: str) -> None:
    """Rows of known keys are left out, or refused, by insert alone. Hudi makes an upsert an insert then, and does not ask for
    those of a bulk insert. Raises ConfigError."""
    if policy == "NONE" or operation.deletes or operation.replaces is not None:
        return
    option = f"{keys.DUP_POLICY.name}={policy.lower()}"
    if not operation.adds:
        raise ConfigError(
            f"Option {option} is not for the operation {operation.name}",
            fix="write by insert, or remove the option",
        )
    if not properties.record_key_fields:
        raise ConfigError(
            f"Option {option} has no meaning for table {properties.name!r}: its keys are generated, new ones every time",
            fix="remove it, or create the table with hoodie.table.recordkey.fields",
        )


def check_generated_keys(properties: TableProperties, operation: Operation) -> None:
    """Raises ConfigError when an operation looks for keys in a table whose keys are generated."""
    if not properties.record_key_fields and operation.finds_keys:
        raise ConfigError(
            f"Operation {operation.name!r} finds no row in table {properties.name!r}: its keys are generated, new ones every "
            "time",
            fix="use insert or bulk_insert, or create the table with hoodie.table.recordkey.fields",
        )


def check_partitions(properties: TableProperties, operation: Operation) -> None:
    """Raises ConfigError when partitions are to be dropped of a table that has none: all its rows would go."""
    if not operation.writes and not properties.partition_fields:
        raise ConfigError(
            f"Table {properties.name!r} has no partitions that could be dropped",
            fix="to empty it, use HoodieTable.truncate",
        )
