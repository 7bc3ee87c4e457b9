"""Rows sorted in bounded memory: what does not fit goes into sorted runs in local files, which are merged range by range."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from hoodie.config.keys.memory import MergeMemory
from hoodie.services.clustering.order import SortOrder

_COPIES = 3  # the rows of a run, those in order, and the keys
_SAMPLES = 4  # bounds that a run proposes for each range that it is cut into


def sorted_rows(tables: Iterable[pa.Table], order: SortOrder, memory: MergeMemory) -> Iterator[pa.Table]:
    """All rows of tables with one schema, in order; equal rows as they came. Memory holds about `memory.bytes`."""
    budget = max(1, memory.bytes // _COPIES)
    buffered: list[pa.Table] = []
    size = 0
    with tempfile.TemporaryDirectory(prefix="hoodie-sort-", dir=memory.folder or None) as folder:
        runs: list[Path] = []
        for rows in tables:
            buffered.append(rows)
            size += rows.nbytes
            if size >= budget:
                runs.append(_spilled(_sorted(buffered, order), Path(folder) / f"{len(runs)}.arrow"))
                buffered, size = [], 0
        if not runs:
            if buffered:
                yield _sorted(buffered, order)
            return
        if buffered:
            runs.append(_spilled(_sorted(buffered, order), Path(folder) / f"{len(runs)}.arrow"))
        yield from _merged(runs, order)


def _sorted(tables: list[pa.Table], order: SortOrder) -> pa.Table:
    rows = pa.concat_tables(tables).combine_chunks()
    return rows.take(order.indices(order.keys(rows)))


def _spilled(rows: pa.Table, path: Path) -> Path:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=1 << 16)
    return path


def _merged(paths: list[Path], order: SortOrder) -> Iterator[pa.Table]:
    """A range of each run holds about as many rows as one run has, in all runs together."""
    runs = [pa.ipc.open_file(pa.memory_map(str(path))).read_all() for path in paths]
    bounds = _bounds(runs, order)
    cuts = [[0, *order.below(order.keys(run), bounds).to_pylist(), run.num_rows] for run in runs]  # a few a run
    for number in range(bounds.num_rows + 1):
        parts = [
            run.slice(places[number], places[number + 1] - places[number])
            for run, places in zip(runs, cuts, strict=True)
        ]
        if any(part.num_rows for part in parts):
            yield _sorted(parts, order)


def _bounds(runs: list[pa.Table], order: SortOrder) -> pa.Table:
    """The keys at which ranges begin: quantiles of what the runs propose."""
    samples = _SAMPLES * len(runs)
    proposed = []
    for run in runs:
        places = sorted({run.num_rows * sample // samples for sample in range(1, samples)})
        proposed.append(order.keys(run.take(pa.array(places, pa.int64()))))
    keys = pa.concat_tables(proposed)
    ordered = keys.take(order.indices(keys))
    step = max(1, ordered.num_rows // len(runs))
    return ordered.take(pa.array(range(step, ordered.num_rows, step), pa.int64()))
