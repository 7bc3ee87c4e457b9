"""Options of `writeStream.format("hoodie")`: those of a write, and `hoodie.stream.*`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.config import select_keys
from hoodie.config.key import resolve
from hoodie.config.keys import stream as keys
from hoodie.config.keys.stream import STREAM_KEYS
from hoodie.errors import ConfigError
from hoodie.services.inline import InlineServices
from hoodie.spark.sink_options import WriteRequest
from hoodie.spark.stream.batch_writer import SinkWrites
from hoodie.storage import open_storage
from hoodie.write.change_rows import ChangeColumns

_CHECKPOINT, _QUERY_NAME = "checkpointlocation", "queryname"  # Spark hands its own options over, too


@dataclass(frozen=True)
class SinkRequest:
    """A query's settings of the sink."""

    writes: SinkWrites
    name: str | None
    checkpoint: str | None
    """The checkpoint location, if it is an option of the query."""
    local_rows: int
    after_restore: bool
    replaces: bool
    """True in the output mode `complete`: a batch takes the place of all rows."""

    @staticmethod
    def of(options: Mapping[str, str], overwrite: bool) -> SinkRequest:
        """Parse the options, keys in lower case as Spark hands them over. Raises ConfigError."""
        remaining = {name: value for name, value in options.items() if name not in (_CHECKPOINT, _QUERY_NAME)}
        own = resolve(select_keys(remaining, STREAM_KEYS), STREAM_KEYS)
        names = {name for key in STREAM_KEYS for name in key.names}
        request = WriteRequest.of({name: value for name, value in remaining.items() if name not in names}, overwrite)
        InlineServices.of(request.options)  # the values of options, too, are checked before the first batch
        op = own.get(keys.OP_COLUMN)
        changes = ChangeColumns(op, own[keys.ORDER_COLUMNS]) if op is not None else None
        beside = own[keys.SERVICES] == keys.BESIDE
        writes = SinkWrites(
            request.base_path, request.operation, request.options, own.get(keys.DELETIONS), changes, beside
        )
        writes.check()
        return SinkRequest(
            writes,
            own.get(keys.QUERY_NAME),
            options.get(_CHECKPOINT),
            own[keys.LOCAL_ROWS],
            own[keys.AFTER_RESTORE] == keys.CONTINUE,
            overwrite,
        )

    def query(self) -> tuple[str, str]:
        """Return the name of the query in its commits, and Spark's identifier of it, empty if the query has a name and its
        checkpoint cannot be read.

        Spark gives a sink of Python neither. Its identifier is in the checkpoint. Raises ConfigError.
        """
        identifier = _identifier(self.checkpoint) if self.checkpoint else None
        name = self.name or identifier
        if name is None:
            raise ConfigError(
                f"The query that writes into table {self.writes.base_path} is not known",
                found=f"no identifier in checkpoint location {self.checkpoint}",
                fix=f'give it as an option of the query, option("checkpointLocation", …), or name the query: '
                f"{keys.QUERY_NAME.name}",
            )
        return name, identifier or ""


def _identifier(checkpoint: str) -> str | None:
    try:
        return str(json.loads(open_storage(checkpoint).read("metadata"))["id"])
    except (OSError, ConfigError, ValueError, KeyError, TypeError):
        return None
