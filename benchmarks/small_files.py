"""Tables of many small files: what opening, planning and changing a little of them costs.

python -m benchmarks.bench many-files prints what it takes with 20,000 files in 1,000 partitions and 200,000 in 10,000; each
step runs in a process of its own. The files are real ones with one row each, made from one that the library wrote by putting
other values of the same length in its place, and they come from one commit for each file of a partition.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie import CLEAN, HoodieTable
from hoodie.clock import SystemClock
from hoodie.formats.base_file import BaseFileOptions, BaseFileWriter
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.names import PARTITION_METAFILE, BaseFileName
from hoodie.model.time import Time
from hoodie.read.execute import execute_read
from hoodie.read.plan import plan_read
from hoodie.read.query import Query
from hoodie.schema import arrow_to_avro, with_meta_columns
from hoodie.storage import LocalStorage
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.view import load_state

ROOT = Path(__file__).resolve().parents[1]
SIZES = ((1_000, 20), (10_000, 20))  # partitions, files of each
SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.float64())])
OPTIONS = {
    "hoodie.table.name": "many",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.datasource.write.hive_style_partitioning": "true",
}
ONE = "p-00007"
_INSTANT, _KEY, _PART, _GROUP = "2" * 17, "k-00000-00", "p-00000", "00000000-0000-4000-8000-000000000000-0"


def main() -> int:
    """One step, as `report` runs it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("table", type=Path)
    options = parser.parse_args()
    print(json.dumps(_measured(STEPS[options.step], options.table)))
    return 0


def report(options: argparse.Namespace) -> int:
    """Print the measurements as a table; the tables of files are made first in `options.folder`."""
    lines = [
        "| files | partitions | step | s | processor seconds | memory, MB |",
        "|---:|---:|---|---:|---:|---:|",
    ]
    for partitions, files in SIZES:
        source = options.folder / f"many-{partitions}-{files}"
        shutil.rmtree(source, ignore_errors=True)
        make(source, partitions, files)
        for name in STEPS:
            command = [sys.executable, "-m", "benchmarks.small_files", name, str(source)]
            process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
            result = json.loads(process.stdout.splitlines()[-1])
            lines.append(
                f"| {partitions * files:,} | {partitions:,} | {name} | {result['seconds']:.2f} | "
                f"{result['processor']:.2f} | {result['memory'] / 1e6:,.0f} |"
            )
    print("\n".join(lines))
    return 0


def make(folder: Path, partitions: int, commits: int, *, files: int = 1) -> None:
    """The table: each commit writes a number of files of one row to every partition."""
    storage, clock = LocalStorage(str(folder)), SystemClock()
    HoodieTable.create(storage, OPTIONS, SCHEMA)
    avro, template = _template()
    for number in range(commits):
        state = load_state(storage, clock)
        moment = new_time(state, clock)
        instant = instants.start(state, instants.request(state, moment, Action.COMMIT))
        stats = [
            _write(folder, template, moment, f"{_PART[:2]}{part:05}", part, number * files + file)
            for part in range(partitions)
            for file in range(files)
        ]
        metadata = CommitMetadata("BULK_INSERT", tuple(stats), {SCHEMA_KEY: avro})
        instants.complete(state, instant, state.layout.encode_commit(metadata, replace=False), clock)


def _template() -> tuple[str, bytes]:
    """The Avro schema of the table, and a file of one row."""
    avro = arrow_to_avro(SCHEMA, "many")
    schema = with_meta_columns(SCHEMA)
    name = str(BaseFileName(_GROUP, "0-0-0", Time.of(_INSTANT)))
    constants = {
        "_hoodie_commit_time": _INSTANT,
        "_hoodie_partition_path": f"part={_PART}",
        "_hoodie_file_name": name,
    }
    sink = io.BytesIO()
    options = BaseFileOptions(compression="NONE")
    writer = BaseFileWriter(sink, schema, arrow_to_avro(schema, "many"), options, constants)
    row = {"_hoodie_commit_seqno": f"{_INSTANT}_0_0", "_hoodie_record_key": _KEY, "id": _KEY, "part": _PART}
    writer.write(pa.Table.from_pylist([{**row, "ts": 1, "value": 1.0}], writer.rows_schema))
    writer.finish(None)
    return avro, sink.getvalue()


def _write(folder: Path, template: bytes, moment: str, part: str, place: int, number: int) -> WriteStat:
    group = f"a{place:07}-0000-4000-8000-{number:012}-0"  # eight digits would be the number of a bucket
    content = template
    for old, new in ((_INSTANT, moment), (_KEY, f"k-{place:05}-{number:02}"), (_PART, part), (_GROUP, group)):
        content = content.replace(old.encode(), new.encode())
    partition = f"part={part}"
    path = f"{partition}/{BaseFileName(group, '0-0-0', Time.of(moment))}"
    if not number:
        (folder / partition).mkdir(parents=True)
        metafile = f"#partition metadata\ncommitTime={moment}\npartitionDepth=1\n"
        (folder / partition / PARTITION_METAFILE).write_text(metafile)
    (folder / path).write_bytes(content)
    return WriteStat(group, path, partition, num_writes=1, num_inserts=1, file_size=len(content))


def _open(folder: Path) -> None:
    assert HoodieTable.open(str(folder)).schema.names == SCHEMA.names


def _plan(folder: Path) -> None:
    assert len(HoodieTable.open(str(folder)).plan_read().slices) >= 20_000


def _read_one(folder: Path) -> None:
    assert HoodieTable.open(str(folder)).read(filter=pc.field("part") == ONE).num_rows >= 20


def _read_path(folder: Path) -> None:
    table = HoodieTable.open(str(folder))
    plan = plan_read(table.state(), Query(partitions=[f"part={ONE}"]))
    assert execute_read(plan, table.storage, table.engine).num_rows >= 20


def _upsert(folder: Path) -> None:
    rows = pa.table({"id": ["k-00007-00"], "part": [ONE], "ts": [2], "value": [2.0]}, schema=SCHEMA)
    result = HoodieTable.open(str(folder)).write(rows, "upsert")
    assert (result.rows_updated, result.rows_inserted) == (1, 0)


def _clean(folder: Path) -> None:
    HoodieTable.open(str(folder)).run(CLEAN, {"hoodie.clean.commits.retained": 1})


STEPS: dict[str, Callable[[Path], None]] = {
    "start of Python, imports": lambda folder: None,
    "open": _open,
    "plan a read of everything": _plan,
    "read one partition": _read_one,
    "read the same one, named by its path": _read_path,
    "upsert one row": _upsert,
    "clean, first": _clean,
    "clean, nothing to do": _clean,
}


def _measured(step: Callable[[Path], None], table: Path) -> dict[str, Any]:
    start = time.perf_counter()
    step(table)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": time.perf_counter() - start,
        "processor": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * 1024,
    }


if __name__ == "__main__":
    sys.exit(main())
