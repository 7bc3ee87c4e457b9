"""Files of events: one of each stream for each second, renamed into place when it is whole."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_services.demo.stream.events import Feed


def land(feed: Feed, folder: Path, second: int) -> int:
    """Write what lands in a second below `folder`: into `orders` and `payments`. Returns the number of events."""
    streams = {"orders": feed.orders(second), "payments": feed.payments(second)}
    for name, events in streams.items():
        _write(events, folder / name, second)
    return sum(events.num_rows for events in streams.values())


def _write(events: pa.Table, folder: Path, second: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{second:06d}.parquet"  # readers leave out names that begin with a dot
    pq.write_table(events, unfinished)
    unfinished.rename(folder / f"{second:06d}.parquet")
