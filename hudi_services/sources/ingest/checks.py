"""Rows that a table cannot take: no record key, no ordering value, no partition path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.keygen import PartitionPaths, RecordKeys
from hoodie.schema import normalise, values_of
from hoodie.write.plan import WritePlan


@dataclass(frozen=True)
class RowChecks:
    """`required` are the columns without which a row is bad."""

    required: tuple[str, ...]
    keys: RecordKeys
    paths: PartitionPaths
    global_keys: bool = False
    """A row is named by its key alone. Otherwise its partition counts, too."""

    @staticmethod
    def of_plan(plan: WritePlan) -> RowChecks:
        """The checks of rows that a planned write needs."""
        ordering = () if plan.operation.deletes else plan.properties.precombine_fields
        required = tuple(dict.fromkeys((*plan.properties.record_key_fields, *ordering)))
        return RowChecks(required, plan.record_keys, plan.paths, plan.global_keys)

    def check_types(self, schema: pa.Schema) -> None:
        """Raises RecordKeyError naming a key or partition column of a type that no row can have."""
        for _ in self.failed(normalise(schema, nulls=True).empty_table()):
            pass

    def failed(self, rows: pa.Table) -> Iterator[tuple[np.ndarray, str]]:
        """The rows that fail each check, and the reasons."""
        for name in self.required:
            column = values_of(rows, name)
            blank = pc.is_null(column)
            if pa.types.is_string(column.type):
                blank = pc.or_(blank, pc.fill_null(pc.equal(pc.binary_length(column), 0), False))
            yield _flags(blank), f"column {name} is null or empty"
        if self.keys.fields:
            yield _flags(self.keys.unusable(rows)), f"no record key can be made of {', '.join(self.keys.fields)}"
            same = f"another row has the same record key and other values of {', '.join(self.keys.fields)}"
            yield _flags(self.keys.colliding(rows, [values_of(rows, name) for name in self.paths.fields])), same
            if not self.global_keys:
                same = f"another row has the same record key, the same path and other values of {', '.join(self.paths.fields)}"
                yield _flags(self.paths.colliding(rows, [values_of(rows, name) for name in self.keys.fields])), same
        for flags, why in self.paths.flaws(rows):
            yield _flags(flags), f"no partition path can be made of {', '.join(self.paths.fields)}: {why}"


def _flags(column: pa.ChunkedArray) -> np.ndarray:
    flags: np.ndarray = column.combine_chunks().to_numpy(zero_copy_only=False)
    return flags
