"""NewTable: a table that is not there yet. It says what the table would be, and what its first write would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.cache import cached_property
from hoodie.config import CREATE_KEYS, select_keys
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.operations import Operation
from hoodie.config.options import RawOptions, options_for
from hoodie.config.properties.table import TableProperties
from hoodie.services.inline import InlineServices
from hoodie.transaction.create import new_properties
from hoodie.write.plan import Stored, WritePlan, chosen_operation, plan_rows


@dataclass(frozen=True)
class NewTable:
    """A table that `HoodieTable.create` would make of these options. Nothing is written. `more` are properties that no option
    sets."""

    base_path: str
    options: RawOptions
    more: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def properties(self) -> TableProperties:
        """The properties that the table would get. Raises ConfigError."""
        return new_properties(select_keys(options_for(self.options, WRITE_OPTIONS), CREATE_KEYS), more=self.more)

    def plan_write(
        self,
        schema: pa.Schema,
        operation: str | Operation | None = None,
        options: RawOptions | None = None,
        *,
        deletions: str | None = None,
    ) -> WritePlan:
        """The plan of a first write, as of `HoodieTable.plan_write`. Raises what a write raises before it writes."""
        own = InlineServices.of(options).options
        stored = Stored(self.base_path, self.properties)
        return plan_rows(stored, schema, chosen_operation(operation, own), own, deletions)
