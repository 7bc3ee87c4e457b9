"""The rows of a table from which changes take values that their messages do not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.display import size_of
from hoodie.errors import SourceError
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.change_rows import ChangeRows
from hudi_services.sources.key_lookup import rows_of_keys

_MOST_BYTES = 1 << 30  # that one commit takes from the table


@dataclass(frozen=True)
class StoredRows:
    """The rows of `table` as it is in `state`. `source` is the name of the source, for messages."""

    table: HoodieTable
    state: TableState
    source: str

    def values(self, keyed: pa.Table, rows_of: ChangeRows, names: Sequence[str]) -> pa.Table:
        """Return the rows of some keys: identity, and those of these columns that the table has.

        Raises SourceError if they are too large for the memory.
        """
        schema = self.table.stored_schema or pa.schema([])
        stored_names = [name for name in names if name in schema.names]
        kinds = pa.schema(
            [*((name, pa.string()) for name in rows_of.identity), *(schema.field(name) for name in stored_names)]
        )
        result, size = [kinds.empty_table()], 0
        for rows in rows_of_keys(self.table, self.state, keyed, rows_of, stored_names):
            size += rows.nbytes
            if size > _MOST_BYTES:
                raise SourceError(
                    f"A batch of {self.source} takes too many values from {self.table.base_path}",
                    found=f"more than {size_of(_MOST_BYTES)} in {', '.join(stored_names)}, which the connector did not send",
                    fix="set a lower `source.max_messages` (--max-messages); nothing was loaded",
                )
            result.append(rows.select(kinds.names).cast(kinds))
        return pa.concat_tables(result)
