"""Options of `df.write.format("hoodie")` with its mode: an operation on a table, which may not be there yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hoodie.config import CREATE_KEYS, select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.write import COMBINE_BEFORE_INSERT, OPERATION
from hoodie.config.operations import DELETE_PARTITION
from hoodie.engine import Engine
from hoodie.errors import ConfigError, TableNotFoundError
from hoodie.services.inline import InlineServices
from hoodie.spark.source_options import NO_PATH, OF_CATALOG, PATH
from hoodie.storage import storage_of
from hoodie.table import HoodieTable
from hoodie.transaction.create import check_creation
from hoodie.write.execute import WriteResult
from hoodie.write.plan import chosen_operation, plan_write

_ALL = "insert_overwrite_table"
_OVERWRITES = {"upsert": _ALL, "insert": _ALL, "bulk_insert": _ALL, _ALL: _ALL, "insert_overwrite": "insert_overwrite"}


@dataclass(frozen=True)
class WriteRequest:
    """A write of a data source."""

    base_path: str
    operation: str
    options: Mapping[str, object]
    """Those of `HoodieTable.write`, and of `HoodieTable.create` for a table that is not there."""

    @staticmethod
    def of(spark_options: Mapping[str, str], overwrite: bool) -> WriteRequest:
        """The write that the options ask for, keys in lower case as Spark hands them over.

        To overwrite is to put the rows in place of all rows of the table, in one commit; if the operation is `insert_overwrite`,
        of those in their partitions. Raises ConfigError for no path, and for deletions that are to overwrite.
        """
        path = spark_options.get(PATH)
        if not path:
            raise ConfigError(
                "A write of format hoodie has no path", fix=NO_PATH.format(verb="save", statement="INSERT INTO")
            )
        options: dict[str, object] = {
            name: value for name, value in spark_options.items() if name != PATH and name not in OF_CATALOG
        }
        operation = chosen_operation(None, resolve(select_keys(options, [OPERATION]), [OPERATION])).name
        if overwrite:
            if operation in ("delete", DELETE_PARTITION):
                raise ConfigError(
                    f"Mode overwrite cannot go with {OPERATION.name}={operation}",
                    found="rows that say what to delete, and a mode in which they are to be all that stays",
                    fix='use mode("append"): a deletion adds no rows',
                )
            if operation == "upsert":  # which leaves one row a key
                options.setdefault(COMBINE_BEFORE_INSERT.name, "true")
            operation = _OVERWRITES[operation]
        options.pop(OPERATION.name, None)
        return WriteRequest(path, operation, options)

    def check(self, schema: pa.Schema) -> None:
        """Raises what would keep rows of these columns from being written, or the table from being created, as far as that is
        known before there are rows."""
        own = InlineServices.of(self.options).options
        try:
            state = HoodieTable.open(self.base_path).state()
        except TableNotFoundError:
            check_creation(storage_of(self.base_path), select_keys(own, CREATE_KEYS), schema)
        else:
            plan_write(state, schema, chosen_operation(self.operation, own), own)

    def carry_out(self, rows: Sequence[Any], schema: pa.Schema, engine: Engine) -> WriteResult:
        """Write splits of rows of these columns. Raises what `HoodieTable.write` raises, and HoodieTable.create."""
        try:
            table = HoodieTable.open(self.base_path, engine=engine)
        except TableNotFoundError:
            table = HoodieTable.create(self.base_path, self.options, engine=engine)
        return table.write(rows, self.operation, self.options, schema=schema)
