"""Keys of an entry that differ from the table at its base path, whose loads are refused then: pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hoodie.config import CREATE_KEYS, laid_over, select_keys
from hoodie.config.key import ConfigKey, Options, as_text, resolve
from hoodie.config.keys.table import NAME, ORDERING_FIELDS, PARTITION_FIELDS, RECORD_KEY_FIELDS, TYPE, VERSION
from hoodie.config.properties.table import TableProperties
from hoodie.transaction.create import never_committed
from hoodie.view import TableState
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.table import Table


@dataclass(frozen=True)
class Contradiction:
    """A key of the entry, the option that it sets, its value, that of the table, and the line of the registry that agrees with
    the table."""

    key: str
    option: str
    declared: str
    stored: str
    line: str

    def __str__(self) -> str:
        return f"{self.key} is {self.declared!r} and the table has {self.stored!r}, so loads are refused: write `{self.line}`"


def option_contradictions(options: Options, properties: TableProperties) -> Iterator[Contradiction]:
    """The options of keys of an entry that differ from those of the table."""
    stored: tuple[tuple[ConfigKey[Any], str, object, str], ...] = (
        (RECORD_KEY_FIELDS, "keys.record_key", properties.record_key_fields, "keys: {{record_key: [{}]}}"),
        (PARTITION_FIELDS, "keys.partition_by", properties.partition_fields, "keys: {{partition_by: [{}]}}"),
        (ORDERING_FIELDS, "keys.ordering", properties.ordering_fields, "keys: {{ordering: [{}]}}"),
        (TYPE, "type", properties.table_type, "type: {}"),
        (VERSION, "version", str(properties.version), "version: {}"),
        (NAME, "name", properties.name, "hoodie: {{hoodie.table.name: {}}}"),
    )
    for option, key, value, line in stored:
        if not options.is_set(option):
            continue
        declared = options[option]
        if option is PARTITION_FIELDS:  # without the kinds of a Custom key generator
            declared = tuple(field.partition(":")[0] for field in declared)
        if declared != value:
            columns = ", ".join(value) if isinstance(value, tuple) else value
            yield Contradiction(key, option.name, as_text(declared), as_text(value), line.format(columns))


def entry_contradictions(table: Table, state: TableState) -> Iterator[Contradiction]:
    """The keys of an entry that differ from those of its table.

    There are none of a table that other programs load, nor of one without a commit, which its first load makes again. Raises
    ConfigError for options that make no table.
    """
    if not table.filled_here or never_committed(state):
        return
    options = {**options_of_new(table, table.keys), VERSION.name: str(table.version)}
    yield from option_contradictions(
        resolve(select_keys(laid_over(table.hoodie, options), CREATE_KEYS), CREATE_KEYS), state.properties
    )
