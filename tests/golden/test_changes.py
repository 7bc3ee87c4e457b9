"""Tables that Hudi wrote with change data capture. The difference of the snapshots of two steps is right."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from hoodie import HoodieTable
from hoodie.errors import ChangeRangeError
from tests.support.changes import apply

TAKEN_BACK = ("restore", "rollback", "savepoint")


def histories(golden, archive_set):
    folder = golden("12v9-cdc").parent / archive_set
    for path in sorted(folder.glob("_expected/*.json")):
        yield HoodieTable.open(folder / path.stem), json.loads(path.read_text())


def rows_of(snapshot, columns):
    """The rows of a snapshot with all columns of the table: those that were added later are null."""
    return Counter(repr(sorted({**dict.fromkeys(columns), **row}.items())) for row in snapshot)


def plain(changes):
    """With dates as text."""
    rows = changes.to_pylist()
    for row in rows:
        for image in ("before", "after"):
            if row[image] is not None:
                row[image] = {
                    name: value.isoformat() if hasattr(value, "isoformat") else value
                    for name, value in row[image].items()
                }
    return rows


@pytest.mark.parametrize("archive_set", ["cdc-12v9", "cdc-12v8"])
def test_each_commit_leads_to_the_next_snapshot(golden, archive_set):
    checked, cleaned, wrong = 0, [], []
    for table, told in histories(golden, archive_set):
        try:
            changes = plain(table.read_changes())
        except ChangeRangeError:
            cleaned.append(told["table"])
            continue
        columns, there = table.schema.names, {instant.time for instant in table.timeline.commits}
        rows, applied = Counter(), set()
        for step in told["steps"]:
            times = {name.partition("_")[0] for name in step.get("timeline_added", ()) if "_" in name}
            apply(rows, [row for row in changes if row["_hoodie_commit_time"] in times - applied])
            applied |= times  # a savepoint has the time of its commit
            lasting = times <= there and not any(word in step["op"] for word in TAKEN_BACK)
            if lasting and "snapshot" in step:
                checked += 1
                if rows != rows_of(step["snapshot"], columns):
                    wrong.append((told["table"], step["op"]))
        if rows != rows_of(told["snapshot"], columns):
            wrong.append((told["table"], "the end"))
    assert not wrong
    assert checked > 15
    assert cleaned == (
        ["cow_cleaned_data_before_after", "cow_cleaned_op_key_only"] if archive_set == "cdc-12v9" else []
    )


def test_a_cleaned_range_ends_with_an_error_and_a_later_one_is_read(golden):
    """Hudi loses the deletes of replaced groups here, without an error."""
    folder = golden("12v9-cdc").parent / "cdc-12v9"
    table = HoodieTable.open(folder / "cow_cleaned_op_key_only")
    with pytest.raises(ChangeRangeError, match="was cleaned"):
        table.read_changes()
    commits = table.timeline.commits
    last = table.read_changes(commits[-2].completion_time)
    assert set(last["_hoodie_commit_time"].to_pylist()) <= {commits[-1].time}


def test_where_hudi_answers_wrong_ours_is_right(golden):
    """docs/reference/cdc-tables.md lists these tables. Hudi's own query fails, or has other deletes."""
    failing, deletes = set(), {}
    for table, told in histories(golden, "cdc-12v9"):
        answer = told["changes"]["whole"]["rows"]
        if "error" in answer:
            failing.add(told["table"])
        elif told["table"] in ("mor_gone", "cow_gone_merge_handle"):
            ours = table.read_changes()["op"].to_pylist().count("d")
            deletes[told["table"]] = (sum(row["op"] == "d" for row in answer), ours)
    assert failing >= {"cow_insert_small", "mor_insert_small", "cow_enabled_late", "mor_compact_op_key_only"}
    assert deletes["mor_gone"][0] > deletes["mor_gone"][1]
    assert deletes["cow_gone_merge_handle"][0] < deletes["cow_gone_merge_handle"][1]
