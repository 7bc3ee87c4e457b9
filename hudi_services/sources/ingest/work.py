"""An estimate of an ingestion's work, without reading a row."""

from __future__ import annotations

from hoodie.display import counted, size_of
from hoodie.engine import Engine
from hoodie.view import TableState, TableView
from hudi_services.entry.size_estimate import Work
from hudi_services.sources.ingest.prepare import prepare
from hudi_services.sources.ingest.request import IngestRequest

_COMMITS = 3  # the partitions of the newest commits are likely to be those of this run


def ingest_work(request: IngestRequest, engine: Engine) -> Work:
    """The new data, and, if the operation looks for keys, the file slices of the partitions that were written last."""
    prepared = prepare(request, engine)
    new = prepared.batch.items
    input_text = f"{counted(len(new), f'new {new.noun}')} of {size_of(new.bytes)}"
    if prepared.table is None or not new or not request.operation.finds_keys:
        return Work(new.bytes, input_text)
    partitions, stored = _touched(prepared.table.state())
    return Work(
        new.bytes + stored,
        f"{input_text}, and {size_of(stored)} in the {counted(partitions, 'partition')} written last",
    )


def _touched(state: TableState) -> tuple[int, int]:
    """The number of partitions that the last commits wrote, and the bytes of their file slices."""
    commits = state.timeline.commits[-_COMMITS:]
    partitions = {stat.partition for commit in commits for stat in state.commit_metadata(commit).stats}
    if not partitions:
        return 0, 0
    return len(partitions), sum(file_slice.size for file_slice in TableView(state, sorted(partitions)).slices)
