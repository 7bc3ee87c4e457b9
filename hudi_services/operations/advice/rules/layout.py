"""Partitions that do not fit the rows: one that has most of them, or many that have hardly any."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hudi_services.operations.advice.facts import Skew, TableFacts
from hudi_services.operations.advice.model import Advice, Severity
from hudi_services.operations.inspect.skew import FEW_ROWS
from hudi_services.operations.inspect.text import count, size

_PARTITIONS = 8  # the fewest of which one may be too large
_BYTES = 64 * 1024 * 1024  # size of a table that is worth a copy
_SHARE = 0.5  # share of the bytes in one partition
_TIMES = 10  # the largest over the median
_TINY = 100  # partitions with few rows
_UNPARTITIONED = 1024**3  # bytes up to which a table needs no partitions
_SORT = "hoodie.clustering.plan.strategy.sort.columns"
_LAST = -1.0  # urgency: the table works, and a copy takes a decision
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATH = re.compile(r"[A-Za-z0-9_./:=-]*")
_WAITS = "No service does that: a copy has another path, which readers and the registry have to name."


def skewed(facts: TableFacts) -> Iterator[Advice]:
    """One partition has most of the bytes."""
    skew = facts.skew
    if skew is None or skew.partitions < _PARTITIONS or skew.bytes < _BYTES:
        return
    share = skew.largest_bytes / skew.bytes
    if share <= _SHARE or skew.largest_bytes < _TIMES * skew.median_bytes:
        return
    copy = _copy(facts, skew, "COLUMN")
    cluster = facts.target.command(f"cluster --force --hoodie-conf {_SORT}=COLUMN")
    yield Advice(
        facts.table,
        Severity.DUE,
        "skew",
        "largest partition",
        f"Partition {skew.largest} has {share:.0%} of the bytes, {size(skew.largest_bytes)} of {size(skew.bytes)} in "
        f"{count(skew.partitions)} partitions, of which half have at most {size(skew.median_bytes)}",
        detail="A filter by partition spares reads of it little, and services work on it in few tasks.",
        fix=copy or facts.target.command("show partitions"),
        remedy="A copy by a column with more equal values, such as a date, ends that: name it for COLUMN in "
        f"{f'`{copy}`' if copy else 'a copy by SQL'}. Or, if the partitions stay, `{cluster}` sorts rows by a column, so "
        "that queries skip most of the files.",
        commands=tuple(filter(None, (copy, cluster))),
        waits=_WAITS,
        urgency=_LAST,
    )


def tiny(facts: TableFacts) -> Iterator[Advice]:
    """Many partitions have hardly a row."""
    skew = facts.skew
    if skew is None or skew.few_rows < _TINY or skew.few_rows * 2 <= skew.partitions:
        return
    is_small = skew.bytes <= _UNPARTITIONED
    copy = _copy(facts, skew, "" if is_small else "COLUMN")
    fields = ", ".join(skew.fields)
    coarser = "without partitions" if is_small else "with a coarser partition column, such as the month of a date,"
    yield Advice(
        facts.table,
        Severity.DUE,
        "skew",
        "tiny partitions",
        f"{count(skew.few_rows)} of {count(skew.partitions)} partitions by {fields} have at most {FEW_ROWS} rows, "
        f"{size(skew.bytes)} in all",
        detail="Each read and each service lists and opens a file for each, and `cluster` packs files within a partition alone.",
        fix=copy or facts.target.command("show partitions"),
        remedy=f"A copy {coarser} ends that. If a key is unique within a partition alone, it needs {fields}, too.",
        waits=_WAITS,
        urgency=_LAST,
    )


def _copy(facts: TableFacts, skew: Skew, column: str) -> str:
    """The command that copies the rows into a table beside this one, partitioned by the `column`. It is empty for names that a
    shell or SQL would have to quote."""
    folder, _, name = facts.base_path.rstrip("/").rpartition("/")
    names = (name, *skew.keys, *skew.ordering)
    if not skew.keys or not _PATH.fullmatch(folder) or not all(map(_PLAIN.fullmatch, names)):
        return ""
    properties = [f"primaryKey = '{','.join(skew.keys)}'"]
    properties += [f"preCombineField = '{','.join(skew.ordering)}'"] if skew.ordering else []
    properties += ["type = 'mor'"] if skew.merges_on_read else []
    by = f" PARTITIONED BY ({column})" if column else ""
    statement = (
        f"CREATE TABLE {name}_copy USING hudi TBLPROPERTIES ({', '.join(properties)}){by} AS SELECT * FROM {name}"
    )
    return f'hudi-services sql --warehouse {folder or "/"} -e "{statement}"'
