"""How long a doctor's round takes: a registry of many small tables, and a partition of many files.

`python -m benchmarks.doctor --tables 1000 --files 100000` prints seconds, storage calls and the peak of memory.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from hoodie import HoodieTable
from hudi_services.operations.doctor.report import exit_code
from hudi_services.operations.doctor.rounds import Patient, rounds

_TABLES, _FILES, _COMMITS, _AT_ONCE = 1000, 100_000, 5, 8
_OPTIONS = {
    "hoodie.table.name": "small",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
}


def small_table(path: Path) -> HoodieTable:
    """Two partitions, five commits."""
    table = HoodieTable.create(str(path), _OPTIONS)
    for step in range(_COMMITS):
        rows = pa.table({"id": ["a", f"b{step}"], "part": ["p", "q"], "value": [step, step]})
        table.write(rows, "upsert", {"hoodie.index.bloom.num_entries": 100})
    return table


def registry(folder: Path, tables: int) -> None:
    """A round over many copies of a small table."""
    small_table(folder / "0")
    for number in range(1, tables):
        shutil.copytree(folder / "0", folder / str(number))
    patients = [Patient(str(number), str(folder / str(number)), {}) for number in range(tables)]
    start = time.perf_counter()
    diagnoses = list(rounds(patients, _AT_ONCE, None))
    seconds = time.perf_counter() - start
    calls = sum(int(table.diagnosis.facts["storage_calls"]) for table in diagnoses)
    print(f"{tables:,} tables: {seconds:.1f} s, {calls:,} storage calls, exit code {exit_code(diagnoses)}, {_peak()}")


def files(folder: Path, count: int) -> None:
    """A look at a table with many unlisted files in one partition."""
    table = small_table(folder / "many")
    later = int(table.timeline.commits[-1].time) + 1
    for number in range(count):
        (folder / "many" / "p" / f"{number:08d}-0_0-1-2_{later}.parquet").touch()
    start = time.perf_counter()
    diagnosis = table.diagnose()
    seconds = time.perf_counter() - start
    calls = diagnosis.facts["storage_calls"]
    print(f"{len(diagnosis.findings):,} findings of {count:,} files: {seconds:.1f} s, {calls} storage calls, {_peak()}")


def _peak() -> str:
    return f"peak of memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=_TABLES)
    parser.add_argument("--files", type=int, default=_FILES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        registry(Path(place), args.tables)
        files(Path(place), args.files)
