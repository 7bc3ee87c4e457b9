"""A diagnosis: facts are gathered, each check judges them, and findings that a concurrent change may explain are checked
again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from hoodie.clock import Clock
from hoodie.doctor import archive, catalogue, footer_checks, key_checks, log_checks, schema_checks
from hoodie.doctor.checks import commits, files, leftovers, metadata, metadata_table, services, shape
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Diagnosis, Finding, worst_first
from hoodie.doctor.gather import gather
from hoodie.errors import HoodieError
from hoodie.storage import ListingCache, Storage

CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    metadata.properties,
    metadata.foreign_properties,
    metadata.instants,
    metadata.times,
    metadata.future,
    metadata.schemas,
    metadata.schema_history,
    files.missing,
    files.sizes,
    files.folders,
    files.orphans,
    files.replaced,
    commits.built_on,
    leftovers.pending,
    leftovers.markers,
    leftovers.heartbeats,
    leftovers.locks,
    shape.bare_keys,
    shape.small_files,
    shape.log_ratio,
    metadata.timeline_length,
    services.overdue,
    services.held_back,
)
SHALLOW = (key_checks.inserts,)
"""Checks of a part of what a deep check looks at as a whole."""
DEEP = (
    metadata.foreign_properties_by_rows,
    footer_checks.footers,
    schema_checks.schemas,
    log_checks.logs,
    footer_checks.unknown,
    archive.strays,
    archive.missing,
    archive.sizes,
    key_checks.duplicates,
)
_OF_FILES = frozenset({catalogue.MISSING_FILE.name})
_TOO_MANY = frozenset({catalogue.ORPHAN.name, catalogue.UNCOMMITTED_FILE.name})
_SIZES = frozenset({catalogue.FILE_SIZE.name})
_AT_ONCE = 16
_LOOKS = 3


def diagnose(
    storage: Storage, clock: Clock, options: Mapping[str, Mapping[str, object]], *, data_files: bool = False
) -> Diagnosis:
    """The faults of a table. Changes nothing. Footers and keys are only read with `data_files`, but for keys of the newest
    inserts into small partitions.

    `options` are those of each service by its name (clean, compact, archive), with which it decides whether it is due. Raises
    TableNotFoundError, CorruptTableError or UnsupportedTableError for a table that cannot be opened at all.
    """
    facts = gather(ListingCache(storage), clock, options)
    result = [finding for check in (*CHECKS, *(DEEP if data_files else SHALLOW)) for finding in _checked(check, facts)]
    result.extend(_settled(facts, lambda: gather(ListingCache(storage), clock, options)))
    return Diagnosis(storage.base_path, worst_first(list(_still(result, storage))), _report(facts))


def _settled(facts: Facts, gather_again: Callable[[], Facts]) -> list[Finding]:
    """Faults of the metadata table, by two looks that agree: a writer updates it, the storage and the timeline one after the
    other, so that each may be of another moment. For a table that changes all the time, the findings common to the last two
    looks."""
    result = list(_checked(metadata_table.metadata_table, facts))
    for _ in range(_LOOKS):
        if not result:
            break
        before = {(finding.check, finding.path) for finding in result}
        current = list(_checked(metadata_table.metadata_table, gather_again()))
        result = [finding for finding in current if (finding.check, finding.path) in before]
        if len(result) == len(current) == len(before):
            break
    return result


def _checked(check: Callable[[Facts], Iterator[Finding]], facts: Facts) -> Iterator[Finding]:
    """Findings of a check. An error that prevents the check is a finding, and the other checks go on. That of a torn instant has
    a finding of its own."""
    try:
        yield from list(check(facts))
    except HoodieError as error:
        if str(error) in {str(file.error) for file in facts.unreadable}:
            return
        name = f"{check.__module__.rpartition('.')[2]}.{check.__name__}"
        yield catalogue.UNCHECKED.finding(
            f"the check {name} could not be made", error.fix or "see what else was found", found=str(error)
        )


def _still(findings: Collection[Finding], storage: Storage) -> Iterator[Finding]:
    """Without files that are there by now, or are gone: their folders are listed once more."""
    named = [finding for finding in findings if finding.check in _OF_FILES | _TOO_MANY | _SIZES]
    present = _file_sizes(storage, {(finding.path or "").rpartition("/")[0] for finding in named})
    for fault in findings:
        if (fault.check in _OF_FILES and fault.path in present) or (
            fault.check in _TOO_MANY and fault.path not in present
        ):
            continue
        if fault.check in _SIZES and present.get(fault.path or "", fault.bytes) != fault.bytes:  # it was being written
            continue
        yield fault


def _file_sizes(storage: Storage, folders: Collection[str]) -> Mapping[str, int]:
    """The files of the folders, with their sizes in bytes."""
    if not folders:
        return {}
    with ThreadPoolExecutor(min(_AT_ONCE, len(folders))) as pool:
        return {file.path: file.size for listing in pool.map(storage.list, folders) for file in listing.files}


def _report(facts: Facts) -> dict[str, object]:
    current = [file for file_slice in facts.slices for file in file_slice.files]
    return {
        "table": facts.state.properties.name,
        "type": facts.state.properties.table_type,
        "version": facts.state.properties.version,
        "partitions": sum(group.has_metafile for group in facts.files),
        "file_groups": len(facts.slices),
        "files": len(facts.sizes),
        "bytes": sum(facts.sizes.values()),
        "current_bytes": sum(file.info.size for file in current),
        "metadata_table": facts.state.properties.has_metadata_table,
        "instants": len(facts.state.timeline),
        "storage_calls": facts.storage.calls,
    }
