"""A bootstrap as it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.config.create import new_table_properties
from hoodie.config.key import Options, resolve
from hoodie.config.keys import bootstrap as keys
from hoodie.config.keys.table import CREATE_KEYS
from hoodie.config.properties.table import TableProperties
from hoodie.storage import open_storage
from hoodie.storage.base import Storage


@dataclass(frozen=True)
class BootstrapRequest:
    """`table` are options of the new table, `options` those of `hoodie.config.keys.bootstrap`."""

    base_path: str | Storage
    table: Mapping[str, object]
    options: Mapping[str, object]

    @property
    def storage(self) -> Storage:
        return open_storage(self.base_path) if isinstance(self.base_path, str) else self.base_path

    @property
    def chosen(self) -> Options:
        return resolve(self.options, keys.BOOTSTRAP_KEYS)

    @property
    def source(self) -> Storage:
        return open_storage(self.chosen[keys.SOURCE])

    @property
    def properties(self) -> TableProperties:
        return new_table_properties(resolve(self.table, CREATE_KEYS))

    @property
    def of_source(self) -> dict[str, str]:
        """Properties of the new table that say where its rows are."""
        return {keys.SOURCE.name: self.source.base_path, **self.properties.features.bootstrap_index}
