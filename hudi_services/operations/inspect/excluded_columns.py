"""Columns that are not to be shown: under any name that they had at the moment of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hoodie.errors import ConfigError
from hoodie.model.time import Time
from hoodie.schema.history import StoredColumns
from hoodie.view import TableState
from hoodie.view.restore import as_restored
from hoodie.view.table_schema import table_schema


@dataclass(frozen=True)
class ShownColumns:
    """The `columns` of a table that are shown, and those that are `hidden`. `columns` is None where none is hidden: all."""

    columns: list[str] | None
    hidden: list[str]


def kept_columns(state: TableState, without: Sequence[str], as_of: Time | None) -> ShownColumns:
    """The columns as of `as_of`, None: now, without those that `without` names.

    Capitals do not count, as in Spark. The name of a part keeps its whole column back, and any name that a renamed column has
    ever had keeps it back. A name that no column has hides nothing. Raises ConfigError where no column is left.
    """
    if not without:
        return ShownColumns(None, [])
    state = as_restored(state)
    unwanted = {name.partition(".")[0].lower() for name in without}
    schema = table_schema(state, as_of)
    names = schema.names if schema is not None else []
    hidden = {name for name in names if name.lower() in unwanted}
    if schema is not None:
        versions = state.schemas_as_of(as_of)
        ids = {column.id for version in versions for column in version.columns if column.name.lower() in unwanted}
        hidden |= {column.name for column in StoredColumns.of(schema, versions, as_of).now if column.id in ids}
    visible = [name for name in names if name not in hidden]
    if names and not visible:
        raise ConfigError("No column is left to show", found=", ".join(without), fix="leave fewer of them out")
    return ShownColumns(visible if hidden else None, [name for name in names if name in hidden])
