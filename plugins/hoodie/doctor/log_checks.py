"""Checks that read logs: what a commit wrote into one is there, and its rows can be read. A block in memory at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pyarrow as pa

from hoodie.doctor import catalogue, file_remedy
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.errors import CorruptFileError
from hoodie.formats.log import BlockType, LogBlock, read_rows, scan_blocks
from hoodie.model.files import LogFile
from hoodie.model.time import Time
from hoodie.storage import Storage

_READERS = 4  # each has a block in memory
_WITHOUT_ROWS = (BlockType.COMMAND, BlockType.CORRUPT)
_OF_ROWS = (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA)


def logs(facts: Facts) -> Iterator[Finding]:
    """Logs of current slices in which rows of a commit cannot be read: readers pass over what is not a block, and say nothing."""
    wrote: defaultdict[str, set[Time]] = defaultdict(set)
    for time, commit in facts.commits.items():
        for stat in commit.stats:
            if stat.num_writes or stat.num_deletes:
                wrote[stat.path].add(time)
    current = [log for file_slice in facts.slices for log in file_slice.log_files]
    with ThreadPoolExecutor(_READERS) as pool:
        for log, flaw in zip(current, pool.map(partial(_looked_at, facts, wrote), current), strict=True):
            if flaw is not None:
                yield catalogue.TORN_LOG.finding(
                    "rows that were committed cannot be read from a log",
                    file_remedy.copy(facts, log.path),
                    found=flaw,
                    path=log.path,
                    bytes=log.info.size,
                )


def _looked_at(facts: Facts, wrote: Mapping[str, Collection[Time]], log: LogFile) -> str | None:
    try:
        blocks = list(scan_blocks(facts.storage, log.path))
        present = {block.instant for block in blocks if block.kind not in _WITHOUT_ROWS}
        missing_commits = sorted(set(wrote.get(log.path, ())) - present)
        wrong = [f"nothing of commit {time} is in it" for time in missing_commits]
        wrong += [
            f"from byte {b.offset} on no block" for b in blocks if missing_commits and b.kind is BlockType.CORRUPT
        ]
        committed = (block for block in blocks if block.kind in _OF_ROWS and block.instant in facts.commits)
        wrong += [flaw for block in committed if (flaw := _flaw(facts.storage, block)) is not None]
    except CorruptFileError as error:
        return _line(error)
    except FileNotFoundError:  # cleaned since the listing
        return None
    return "; ".join(wrong) or None


def _flaw(storage: Storage, block: LogBlock) -> str | None:
    try:
        for _rows in read_rows(storage, block):
            pass
    except (CorruptFileError, pa.ArrowException) as error:
        return f"the block of commit {block.instant} at byte {block.offset}: {_line(error)}"
    return None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
