"""Changes between any two instants, and rows as of each: compared with whole reads at both."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import CLEAN, CLUSTERING, COMPACTION, HoodieTable
from hoodie.errors import HoodieError, TimeTravelError
from hoodie.services.restore.service import Restore
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.difference import difference
from hudi_services.operations.inspect.rows import rows
from hudi_services.operations.inspect.table_look import Look, look_at
from tests.support.examples import examples
from tests.support.tables import SMALL_BLOOM, batch, create

APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0, "hoodie.datasource.insert.dup.policy": "none"}
BEGINNING = "20000101000000000"
WRITES = ("upsert", "upsert", "delete", "insert", "insert_overwrite", "insert_overwrite_table")
ENTRY = st.tuples(st.sampled_from("abc"), st.sampled_from("pq"), st.integers(0, 2))
STEP = st.tuples(
    st.sampled_from([*WRITES, "drop", "compact", "cluster", "clean", "restore"]),
    st.lists(ENTRY, min_size=1, max_size=3),
)
Rows = Counter[tuple[Any, ...]]


@settings(max_examples=examples(12), deadline=None)
@given(st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]), st.sampled_from(["9", "6"]), st.lists(STEP, max_size=5))
def test_a_comparison_and_a_sample_are_what_whole_reads_say(
    tmp_path_factory: pytest.TempPathFactory, kind: str, version: str, steps: list[tuple[str, list[Any]]]
) -> None:
    options = {"hoodie.table.type": kind, "hoodie.write.table.version": version}
    table = create(tmp_path_factory.mktemp("compared") / "t", **options)
    table.write(batch([("a", "p", 0, 0), ("b", "q", 0, 0)]), "insert", APART)
    for number, (step, entries) in enumerate(steps, 1):
        happens(table, step, [(key, part, number, value) for key, part, value in entries])
    look = look_at(ChosenTable(table.base_path, None))
    known = {BEGINNING: Rows()} | {
        str(each.time): whole for each in table.timeline.commits if (whole := read(table, each.time)) is not None
    }
    assert known[str(table.timeline.commits[-1].time)] == sampled(look, None)
    for time, whole in list(known.items())[1:]:
        assert sampled(look, time) == whole
    for first, before in known.items():
        for last, after in known.items():
            if first <= last:
                changes = difference(look, first, last, 1000).values["rows"]
                went, came = (
                    Rows(row(each, side) for each in changes if each[side] is not None) for side in ("before", "after")
                )
                assert not went - before
                assert before - went + came == after, (first, last, changes)
                for each in changes:
                    assert (each["before"] is None, each["after"] is None) == KINDS[each["change"]]


KINDS = {"inserted": (True, False), "updated": (False, False), "deleted": (False, True)}


def row(change: dict[str, Any], side: str) -> tuple[Any, ...]:
    found = change[side]
    assert (change["partition"], change["key"]) == (f"part={found['part']}", found["id"])
    return found["id"], found["part"], found["ts"], found["value"]


def read(table: HoodieTable, time: str) -> Rows | None:
    """None where a clean removed what was there then."""
    try:
        return Rows(tuple(each.values()) for each in table.read(as_of=time).to_pylist())
    except TimeTravelError:
        return None


def sampled(look: Look, time: str | None) -> Rows:
    return Rows(map(tuple, rows(look, 1000, time, None, (), 200).values["rows"]))


def happens(table: HoodieTable, step: str, entries: list[Any]) -> None:
    """Run a step. A step that the table refuses is refused here, too."""
    try:
        match step:
            case "compact":
                table.schedule(COMPACTION, force=True)
                table.run(COMPACTION)
            case "cluster":
                table.schedule(CLUSTERING, force=True)
                table.run(CLUSTERING)
            case "clean":
                table.run(CLEAN, {"hoodie.clean.commits.retained": entries[0][3] + 1})
            case "drop":
                table.delete_partitions([f"part={entries[0][1]}"])
            case "restore":
                wanted = Restore(
                    table.savepoint(
                        str(table.timeline.commits[-min(len(entries), len(table.timeline.commits))].time)
                    ).instant
                )
                table.run(wanted.agreed(table.explain(wanted)))
            case _:
                table.write(batch(entries), step, APART)
    except HoodieError:
        pass
