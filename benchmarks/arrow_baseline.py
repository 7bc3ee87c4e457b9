"""Arrow's share of a bulk insert: python -m benchmarks.arrow_baseline INPUT (a file that benchmarks.bench made).

Decode the input, put the rows of each city together, encode them as Parquet with a key and a sequence number beside the columns:
in one process a core, with neither Spark nor keys, bloom filters, markers or a timeline.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.usage import run
from hoodie.formats.dictionary_columns import dictionary_columns

_CORES = 2
_RUNS = 5


def convert(paths: list[str], target: str) -> None:
    """The rows of some files of the input as one file a city."""
    pa.set_cpu_count(1)
    rows = pa.concat_tables(pq.read_table(path, use_threads=False) for path in paths).combine_chunks()
    rows = rows.append_column("_hoodie_record_key", rows["uuid"])
    rows = rows.append_column("_hoodie_commit_seqno", pc.cast(pa.array(np.arange(rows.num_rows)), pa.string()))
    for number, city in enumerate(pc.unique(rows["city"])):
        chosen = rows.filter(pc.equal(rows["city"], city))
        columns = dictionary_columns(chosen)
        pq.write_table(chosen, f"{target}/{number}.parquet", compression="zstd", use_dictionary=columns)


def main(source: str) -> None:
    base = sorted(map(str, Path(source).glob("base-*.parquet")))
    seconds = []
    with get_context("forkserver").Pool(_CORES) as pool, tempfile.TemporaryDirectory() as target:
        shares = [(base[number::_CORES], f"{target}/{number}") for number in range(_CORES)]
        for _, folder in shares:
            Path(folder).mkdir()
        for _ in range(_RUNS):
            start = time.perf_counter()
            pool.starmap(convert, shares, chunksize=1)
            seconds.append(time.perf_counter() - start)
    print(f"Arrow alone: {statistics.median(seconds):.2f} s")


if __name__ == "__main__":
    run(main, __doc__)
