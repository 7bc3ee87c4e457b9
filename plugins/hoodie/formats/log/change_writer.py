"""Blocks of change data logs: the changes of one rewritten base file (format notes, section 12)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.formats.avro_rows import avro_block
from hoodie.formats.log.blocks import BlockType, Header, encode_block
from hoodie.model.changes import AFTER, BEFORE, OP
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.time import Time
from hoodie.schema import arrow_to_avro


@dataclass(frozen=True)
class ChangeBlocks:
    """Encodes the changes of one instant. `mode` is that of `hoodie.table.cdc.supplemental.logging.mode`."""

    mode: str
    table: str
    data: pa.Schema  # data columns of the table
    instant: Time
    header: str = field(init=False)
    """The Avro schema of the records."""

    @classmethod
    def of(cls, mode: str | None, table: str, data: pa.Schema, instant: Time) -> ChangeBlocks | None:
        """Return None without a mode: changes are not logged."""
        return None if mode is None else cls(mode, table, data, instant)

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", self._avro_schema())

    def encode(self, changes: pa.Table) -> bytes:
        """Return a block. `changes` have the record key, `op`, and `before` and `after` as structs of the data columns."""
        rows = changes.num_rows
        texts = {
            "op": changes[OP],
            "record_key": changes[RECORD_KEY],
            "ts_ms": pa.repeat(pa.scalar(str(self.instant)), rows),
            "before": changes[BEFORE],
            "after": changes[AFTER],
        }
        content = avro_block(pa.table({name: texts[name] for name in self._columns}))
        return encode_block(
            BlockType.CDC_DATA, {Header.INSTANT_TIME: self.instant, Header.SCHEMA: self.header}, content
        )

    @property
    def _columns(self) -> tuple[str, ...]:
        return {
            "OP_KEY_ONLY": ("op", "record_key"),
            "DATA_BEFORE": ("op", "record_key", "before"),
            "DATA_BEFORE_AFTER": ("op", "ts_ms", "before", "after"),
        }[self.mode]

    def _avro_schema(self) -> str:
        """The record as Hudi names it. The second image refers to the type of the first one."""
        image = json.loads(arrow_to_avro(self.data, self.table))
        namespace, name = image.pop("namespace"), image["name"]
        kinds: dict[str, list[object]] = {"before": ["null", image], "after": ["null", name]}
        fields = [
            {"name": column, "type": kinds.get(column, ["null", "string"]), "default": None} for column in self._columns
        ]
        return json.dumps({"type": "record", "name": "CDC", "namespace": namespace, "fields": fields})
