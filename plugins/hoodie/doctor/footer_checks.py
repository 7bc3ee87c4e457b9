"""Checks that read the footers of base files, and the pages of current ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.doctor import catalogue, file_remedy
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.errors import CorruptFileError, MissingFileError
from hoodie.formats.bootstrap_file import open_file
from hoodie.model.commit import WriteStat
from hoodie.model.files import BaseFile
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.names import METADATA_BOOTSTRAP
from hoodie.storage import Storage

_READERS = 16
_SURROGATES = "\ud800"  # up to these Java orders texts as their bytes do


def footers(facts: Facts) -> Iterator[Finding]:
    """Find base files of slices, old ones too, that cannot be opened, or have other rows or bytes than their commit says, or a
    key range that is not that of their keys; and current ones with a damaged page."""
    stats = {stat.path: stat for commit in facts.commits.values() for stat in commit.stats}
    marked = {group.partition for group in facts.files if group.has_metafile}
    slices = [file_slice for group in facts.groups if group.partition in marked for file_slice in group.slices]
    bases = [file_slice.base_file for file_slice in slices if file_slice.base_file is not None]
    current = frozenset(file_slice.base_file.path for file_slice in facts.slices if file_slice.base_file is not None)
    look = partial(_footer, facts.storage, stats, current)
    with ThreadPoolExecutor(_READERS) as pool:
        for file, flaw in zip(bases, pool.map(look, bases), strict=True):
            if flaw is not None:
                check, detail = flaw
                yield check.finding(
                    "a base file cannot be read"
                    if check is catalogue.TORN_FILE
                    else "a base file is not what its commit wrote",
                    file_remedy.copy(facts, file.path),
                    found=detail,
                    path=file.path,
                    instant=file.instant,
                    bytes=file.size,
                )


def unknown(facts: Facts) -> Iterator[Finding]:
    """Base files of instants that were to be archived, and were not: all readers take them for committed."""
    timeline = facts.state.timeline
    bases = (file for group in facts.files if group.has_metafile for file in group.base_files)
    old = [f for f in bases if f.instant not in timeline.commit_times and timeline.is_committed(f.instant)]
    archived = {instant.time for instant in facts.state.archive.instants()} if old else set()
    first = min(archived, default=None)
    for file in old:
        if first is not None and file.instant >= first and file.instant not in archived:
            yield catalogue.UNKNOWN_FILE.finding(
                f"a file of instant {file.instant}, which neither timeline nor archive has: readers take it for the table's",
                "find its writer, and compare its rows with those of the other files of its group; if no commit has it, "
                "move it out of the table",
                path=file.path,
                instant=file.instant,
                bytes=file.size,
            )


def _footer(
    storage: Storage, stats: Mapping[str, WriteStat], current: Collection[str], file: BaseFile
) -> tuple[catalogue.Check, str] | None:
    stat = stats.get(file.path)
    try:
        with open_file(storage, file.path) as reader:
            rows, key_range = reader.rows, reader.key_range() if file.instant != METADATA_BOOTSTRAP else None
            stored = _stored_range(reader.footer) if reader.footer is not None else None
            for _ in reader.batches() if file.path in current else ():
                pass  # damage shows as an error
    except (CorruptFileError, pa.ArrowException) as error:
        return catalogue.TORN_FILE, " ".join(str(error).split())
    except (MissingFileError, FileNotFoundError):  # cleaned since the listing
        return None
    wrong = []
    if stat is not None and stat.num_writes != rows:
        wrong.append(f"{rows:,} rows, where the commit wrote {stat.num_writes:,}")
    if stat is not None and stat.file_size not in (0, file.size):
        wrong.append(f"{file.size:,} bytes, where the commit wrote {stat.file_size:,}")
    plain = max("".join((*(key_range or ()), *(stored or ()))), default="") < _SURROGATES
    if (
        key_range is not None
        and stored is not None
        and plain
        and (stored[0] < key_range[0] or stored[1] > key_range[1])
    ):
        wrong.append(
            f"keys from {stored[0]!r} to {stored[1]!r}, where its footer says {key_range[0]!r} to {key_range[1]!r}"
        )
    return (catalogue.FOOTER, "; ".join(wrong)) if wrong else None


def _stored_range(metadata: pq.FileMetaData) -> tuple[str, str] | None:
    """The least and the greatest key by the statistics of the row groups; None where these do not say."""
    names = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    if RECORD_KEY not in names:
        return None
    place = names.index(RECORD_KEY)
    groups = [metadata.row_group(group).column(place).statistics for group in range(metadata.num_row_groups)]
    if not groups or not all(stats is not None and stats.has_min_max for stats in groups):
        return None
    least, greatest = min(stats.min for stats in groups), max(stats.max for stats in groups)
    return (least, greatest) if isinstance(least, str) and isinstance(greatest, str) else None
