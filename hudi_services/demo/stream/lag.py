"""The seconds that events take from their landing into each layer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie import HoodieTable
from hoodie.spark.stream.batches import KEY
from hudi_services.demo.stream.layers import LAYERS, PAID_ORDERS, ROLLUPS
from hudi_services.demo.stream.queries import Folders

_COMMIT_TIME = "_hoodie_commit_time"


@dataclass(frozen=True)
class Hop:
    """The commits of a layer that reads another one: `read` is the completion up to which each commit has read, `done` its own
    completion. Both are sorted, in seconds."""

    read: Any
    done: Any

    def arrivals(self, completed: Any) -> Any:
        """Return when commits of the source that completed at these times are in this layer: NaN for those that are not."""
        return np.append(self.done, np.nan)[np.searchsorted(self.read, completed)]


def lags(landed: Any, completed: Any, hops: Sequence[Hop]) -> list[Any]:
    """Return the seconds from landing to each layer. `completed` is when the commit of each event in the first layer was
    complete."""
    arrivals = [completed]
    for hop in hops:
        arrivals.append(hop.arrivals(arrivals[-1]))
    return [times[~np.isnan(times)] - landed[~np.isnan(times)] for times in arrivals]


def measured(folders: Folders, since: datetime) -> dict[str, Any]:
    """Return for each layer the lags of the events that landed since a moment, in seconds.

    The newest version of each paid order counts, and the commits of the active timelines.
    """
    table = PAID_ORDERS.table(folders.lake)
    rows = table.read([_COMMIT_TIME, "landed_at"], filter=pc.field("landed_at") >= pa.scalar(since))
    commits = rows[_COMMIT_TIME].combine_chunks().dictionary_encode()
    completion_times = {str(instant.time): _seconds(instant.completion_time) for instant in table.timeline.commits}
    completed = np.array([completion_times[time] for time in commits.dictionary.to_pylist()])[
        commits.indices.to_numpy()
    ]
    landed = rows["landed_at"].cast(pa.int64()).to_numpy() / 1_000_000
    hops = [_hop(folders, rollup.target.name, rollup.target.table(folders.lake)) for rollup in ROLLUPS]
    return dict(zip((layer.name for layer in LAYERS), lags(landed, completed, hops), strict=True))


def _hop(folders: Folders, name: str, table: HoodieTable) -> Hop:
    """The checkpoint has the position of each batch, and the commits name their batches."""
    checkpoint = folders.checkpoint(name)
    key = KEY + json.loads((checkpoint / "metadata").read_text())["id"]
    state, batches = table.state(), []
    for instant in state.timeline.commits:
        if checkpoint_json := state.commit_metadata(instant).extra.get(key):
            offset = checkpoint / "offsets" / str(json.loads(checkpoint_json)["batch"])
            position = json.loads(offset.read_text().splitlines()[-1])["position"]
            batches.append((_seconds(position), _seconds(instant.completion_time)))
    return Hop(*np.array(batches).reshape(-1, 2).T)


def _seconds(time: str | None) -> float:
    """Since 1970, of a time of a timeline in UTC."""
    return datetime.strptime(f"{time}000+0000", "%Y%m%d%H%M%S%f%z").timestamp()
