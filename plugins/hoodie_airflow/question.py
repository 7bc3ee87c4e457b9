"""The question to a person before a run deletes more than it may: how much of the table, and whether it can be restored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airflow.sdk.configuration import conf

from hoodie.config import laid_over, select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.delete import GRACE_HOURS
from hoodie.display import counted, size_of
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.runtime.failures import Failure

_CLEAN, _TTL = "clean", "ttl"
_ROWS = {
    _CLEAN: "Readers see the same rows as before: the files are older versions.",
    _TTL: "Readers no longer see the rows of these partitions.",
}


def question(failure: Failure, table: Table, entry: ServiceEntry[Any]) -> str:
    """The text of the question, as Markdown; the error itself if it has no sizes, as that of a restore."""
    if failure.deletion is None or entry.name not in _ROWS:
        return failure.block()
    return "\n\n".join(_lines(failure, table, entry))


def plan_link(table: Table, service: str) -> str:
    """A link to the page of the plan, as Markdown with a blank line; empty for a service without that page."""
    base = str(conf.get("api", "base_url", fallback="") or "").rstrip("/")
    return f"[See the plan]({base}/plugin/hudi/hudi/#/plan/{table.name}/{service})\n\n" if service in _ROWS else ""


def _lines(failure: Failure, table: Table, entry: ServiceEntry[Any]) -> Iterator[str]:
    sizes = failure.deletion or {}
    files, size, table_bytes, partitions = (
        int(sizes.get(key, 0)) for key in ("files", "bytes", "of_bytes", "partitions")
    )
    share = f", {size / table_bytes:.0%} of the table" if table_bytes else ""
    where = f", in {counted(partitions, 'partition')}" if partitions else ""
    yield f"The {entry.name} of table {table.name} would delete {counted(files, 'file')}, {size_of(size)}{share}{where}."
    yield _ROWS[entry.name]
    yield _restorable(table, entry)
    yield f"It needs approval: {failure.found}. Plan {failure.digest}."


def _restorable(table: Table, entry: ServiceEntry[Any]) -> str:
    if entry.name == _TTL:
        return "Until a clean deletes the files, `hudi-services rollback` takes the drop back."
    section = entry.section_of(table)
    table_options = laid_over(section.hoodie if section is not None else {}, table.hoodie)
    hours = resolve(select_keys(table_options, [GRACE_HOURS]), [GRACE_HOURS])[GRACE_HOURS]
    if not hours:
        return f"The files cannot be restored: {GRACE_HOURS.name} is 0."
    return f"For {counted(hours, 'hour')} after that, `hudi-services undelete --table {table.name}` restores the files."
