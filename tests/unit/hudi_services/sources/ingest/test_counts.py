"""The counts have each row that was read: written, a duplicate, without effect, filtered or quarantined. The table agrees."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hoodie.display import counted
from hudi_services.runtime.result import ServiceResult
from tests.support.examples import examples
from tests.unit.hudi_services.sources.ingest.conftest import Feed

KEYS = st.sampled_from([*"abcdef", ""])  # a row without a key goes to the quarantine
ROW = st.tuples(KEYS, st.integers(0, 4), st.integers(-2, 6))
LOADS = st.lists(
    st.tuples(st.sampled_from(["upsert", "insert", "bulk_insert", "delete"]), st.lists(ROW, max_size=12)),
    min_size=1,
    max_size=3,
)
SQL = "select * replace (case when value = 6 then error('six') else value end as value) from batch where value >= 0"


def add_up(result: ServiceResult) -> None:
    told = result.rows_filtered + result.rows_duplicate + result.rows_without_effect + result.rows_quarantined
    assert result.rows_read + result.rows_repeated == result.rows_written + told, result
    assert result.rows_written == result.rows_inserted + result.rows_updated + result.rows_deleted
    assert min(result.rows_without_effect, result.rows_repeated) == 0
    for count, words in (
        (result.rows_filtered, "filtered by sql"),
        (result.rows_duplicate, "dropped as duplicates"),
        (result.rows_without_effect, "without effect"),
        (result.rows_repeated, "more than came"),
        (result.rows_quarantined, "quarantined in"),
    ):
        assert (f"{counted(count, 'row')} {words}" in result.message) == (count > 0)


def model(stored: dict[str, list[int]], operation: str, rows: list[tuple[str, int, int]]) -> dict[str, int]:
    """The effect of a load of good rows on a copy-on-write table, `stored` as the ordering values of each key's rows."""
    counts = dict.fromkeys(("inserted", "updated", "deleted", "duplicate", "idle"), 0)
    if operation in ("insert", "bulk_insert"):
        for key, ts, _ in rows:
            stored.setdefault(key, []).append(ts)
        counts["inserted"] = len(rows)
        return counts
    newest: dict[str, int] = {}
    for key, ts, _ in rows:
        newest[key] = max(ts, newest.get(key, 0))
    counts["duplicate"] = len(rows) - len(newest)
    for key, ts in newest.items():
        held = stored.get(key, [])
        if operation == "delete":
            counts["deleted"] += len(held)
            counts["idle"] += not held
            stored.pop(key, None)
        elif not held:
            counts["inserted"] += 1
            stored[key] = [ts]
        else:
            changed = [ts >= old for old in held]
            counts["updated"] += sum(changed)
            counts["idle"] += not any(changed)
            stored[key] = [ts if newer else old for newer, old in zip(changed, held, strict=True)]
    return counts


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@given(loads=LOADS)
@example(loads=[("insert", [("a", 1, 0), ("a", 1, 0)]), ("upsert", [("a", 2, 0)])])
@example(
    loads=[("upsert", [("a", 3, 0)]), ("upsert", [("a", 1, 0)]), ("delete", [("a", 1, 0), ("b", 1, 0), ("b", 2, 0)])]
)
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_counts_add_up(kind: str, loads: list[tuple[str, list[tuple[str, int, int]]]]) -> None:
    with TemporaryDirectory() as folder:
        feed = Feed(Path(folder) / "trips", Path(folder) / "land")
        feed.land("0.csv", "id,part,ts,value\nz,p,0,0\n")
        feed.run("csv", {"hoodie.table.type": kind}, declared={"sql": SQL})
        stored: dict[str, list[int]] = {"z": [0]}
        for number, (operation, rows) in enumerate(loads, 1):
            lines = [f"{key},p,{ts},{value}\n" for key, ts, value in rows]
            half = len(lines) // 2
            feed.land(f"{number}-a.csv", "id,part,ts,value\n" + "".join(lines[:half]))
            feed.land(f"{number}-b.csv", "id,part,ts,value\n" + "".join(lines[half:]) + "short\n")
            result = feed.run("csv", operation=operation, max_bad_share=1.0, declared={"sql": SQL})
            add_up(result)
            kept = [row for row in rows if row[2] >= 0]
            good = [row for row in kept if row[0] and row[2] != 6]
            wanted = model(stored, operation, good)
            assert result.rows_read == len(rows) + 1
            assert result.rows_filtered == len(rows) - len(kept)
            assert result.rows_quarantined == len(kept) - len(good) + 1
            assert result.rows_duplicate == wanted["duplicate"]
            if kind == "COPY_ON_WRITE":
                assert result.rows_inserted == wanted["inserted"]
                assert result.rows_updated == wanted["updated"]
                assert result.rows_deleted == wanted["deleted"]
                balance = wanted["idle"] - (sum(wanted.values()) - len(good))
                assert result.rows_without_effect - result.rows_repeated == balance
                assert sorted(feed.open().read().column("id").to_pylist()) == sorted(
                    key for key, held in stored.items() for _ in held
                )
            assert json.loads(json.dumps(result.__dict__, default=str))["rows_filtered"] == result.rows_filtered


@pytest.mark.parametrize(
    ("ordering", "kept"),
    [
        ("ts", "rows with their keys whose ts is not lower"),
        ("", "later rows with their keys (the table has no ordering field)"),
    ],
)
def test_the_outcome_says_which_row_of_a_key_stays(tmp_path: Path, ordering: str, kept: str) -> None:
    feed = Feed(tmp_path / "trips", tmp_path / "land")
    feed.land("0.csv", "id,part,ts,value\nz,p,0,1\nz,p,0,2\n")
    result = feed.run("csv", {"hoodie.table.ordering.fields": ordering})
    assert f"1 row dropped as duplicates: the load has {kept}" in result.message
    assert feed.open().read().column("value").to_pylist() == [2], "the later one"
