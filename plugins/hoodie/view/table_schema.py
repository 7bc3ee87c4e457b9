"""The schema of a table at an instant (format notes, section 2.6)."""

from __future__ import annotations

import pyarrow as pa

from hoodie.formats.bootstrap_file import open_base_file
from hoodie.model.time import Time
from hoodie.schema import avro_to_arrow, data_columns
from hoodie.view.state import TableState
from hoodie.view.table_view import TableView

CREATE_SCHEMA = "hoodie.table.create.schema"


def table_schema(state: TableState, as_of: Time | None = None) -> pa.Schema | None:
    """The data columns as the last commit not later than `as_of` declares them; None for a table that never had any.

    Without such a commit, the schema with which the table was created counts, then that of a base file.
    """
    declared = state.declared(as_of)
    text = declared[1].schema if declared is not None else None
    if text:
        return data_columns(avro_to_arrow(text))
    created = state.properties.raw.get(CREATE_SCHEMA)
    if created:
        return data_columns(avro_to_arrow(created))
    for group in TableView(state).groups:
        base = group.slices[0].base_file
        if base is not None:
            with open_base_file(state.storage, base) as reader:
                return data_columns(reader.schema)
    return None
