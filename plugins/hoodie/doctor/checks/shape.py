"""Sizes and keys: many small files, logs that outgrow their base files, keys that no upsert finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hoodie.display import counted
from hoodie.doctor import catalogue
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.model.files import FileSlice

MANY = 20  # small files of a partition
_FEWER = 4  # the share of them that would do, as a divisor
_LOGS = 16 * 1024 * 1024  # bytes of logs that are little beside any base file
_LONGEST = 50  # logs over one base file


def bare_keys(facts: Facts) -> Iterator[Finding]:
    """Keys of the COMPLEX key generator without the name of their column, which table version 9 expects there."""
    bare = facts.bare_key if facts.bare_key is not None else facts.mixed_key
    if bare is not None:
        yield catalogue.BARE_KEYS.finding(
            "keys of the COMPLEX key generator lack the name of their column: an upsert inserts them again",
            "write with `hoodie.write.complex.keygen.new.encoding=true`, by Hudi; see which keys are there twice by `--deep`",
            found=f"key {bare!r:.200}",
        )


def small_files(facts: Facts) -> Iterator[Finding]:
    """Partitions with many small files."""
    limit = facts.small_file_limit
    for partition, small in crowded(facts.slices, limit, MANY):
        yield catalogue.SMALL_FILES.finding(
            f"partition {partition!r} has many small files",
            "run `hudi-services cluster`; inserts fill small files up, bulk_insert and many parallel tasks make them",
            found=f"{counted(len(small), 'file')} below {limit:,} bytes, {sum(small):,} bytes together",
            path=partition,
            bytes=sum(small),
        )


def crowded(slices: Iterable[FileSlice], limit: int, many: int) -> Iterator[tuple[str, list[int]]]:
    """Partitions whose rows would fit into a quarter of their small files, `many` at least, and the sizes of these. A file is
    small below `limit` bytes."""
    sizes: dict[str, list[int]] = {}
    for file_slice in slices:
        if file_slice.base_file is not None and file_slice.base_file.size < limit:
            sizes.setdefault(file_slice.partition, []).append(file_slice.base_file.size)
    for partition, small in sorted(sizes.items()):
        needed = -(-sum(small) // limit)
        if len(small) >= many and needed * _FEWER <= len(small):
            yield partition, small


def log_ratio(facts: Facts) -> Iterator[Finding]:
    """Reads lay logs over base files: the more there are, the slower."""
    base = sum(file_slice.base_file.size for file_slice in facts.slices if file_slice.base_file is not None)
    logs = [log.info.size for file_slice in facts.slices for log in file_slice.log_files]
    longest = max((len(file_slice.log_files) for file_slice in facts.slices), default=0)
    if sum(logs) > max(base, _LOGS) or longest > _LONGEST:
        yield catalogue.LOG_RATIO.finding(
            "logs outgrow their base files: every read lays them over these",
            "run `hudi-services compact`",
            found=f"{sum(logs):,} bytes in {counted(len(logs), 'log')} over {base:,} bytes; {longest} at most over one file",
            bytes=sum(logs),
        )
