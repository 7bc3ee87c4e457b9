"""How far a snapshot in chunks is: what its commits hold beside the position at which it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_services.sources.cdc.mysql.key_range import KeyValues
from hudi_services.sources.cdc.mysql.position import LogPosition, log_position


@dataclass(frozen=True)
class SnapshotProgress:
    """A table that is not yet equal to any moment of its source.

    Its chunks are of several moments, the latest of which is `high`. So it is equal to its source from the moment on when it has
    all changes from its position up to there. `digest` is that of the chunked table. `done` is the last key that it has (None
    before the first), `last` the one that ends the last chunk. Both are None once all chunks are there. They had `rows`.
    """

    high: LogPosition
    digest: str = ""
    done: KeyValues | None = None
    last: KeyValues | None = None
    rows: int = 0

    @property
    def is_read(self) -> bool:
        """All chunks are in the table. Changes are missing."""
        return self.last is None

    def after(self, place: LogPosition, done: KeyValues, rows: int) -> SnapshotProgress:
        """Return the progress with a chunk of `rows` at `place` of the log, whose last key is `done`."""
        high, rows = max(self.high, place), self.rows + rows
        return (
            SnapshotProgress(high, rows=rows) if done == self.last else replace(self, high=high, done=done, rows=rows)
        )

    @property
    def document(self) -> dict[str, object]:
        """The progress as JSON holds it, values of keys in hexadecimal digits."""
        keys = {"done": self.done, "last": self.last}
        texts = {name: [value.hex() for value in key] for name, key in keys.items() if key is not None}
        digest = {"digest": self.digest} if self.digest else {}
        return {"high": str(self.high), "rows": self.rows, **digest, **texts}


def snapshot_progress(document: Mapping[str, Any]) -> SnapshotProgress:
    """Read what `document` gave. Raises ValueError, TypeError, KeyError or ConfigError for anything else."""

    def key(name: str) -> KeyValues | None:
        return tuple(map(bytes.fromhex, document[name])) if name in document else None

    high, digest, rows = log_position(document["high"]), str(document.get("digest", "")), int(document["rows"])
    return SnapshotProgress(high, digest, key("done"), key("last"), rows)
