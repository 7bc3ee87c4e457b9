"""Bad rows of a person leave the quarantine, the others stay, and a killed run is repeated."""

from __future__ import annotations

import json

from hudi_services.sources.ingest.quarantine_purge import BadRowPurge

LINES = [
    {"file": "a.csv", "reason": "r", "row": {"id": "c-1", "age": "x"}},
    {"file": "a.csv", "reason": "r", "row": {"id": "c-12", "age": "c-1"}},
    {"file": "a.csv", "reason": "r", "row": {"id": 7, "age": None}},
    {"file": "a.csv", "reason": "torn", "text": "c-1,broken"},
    {"file": "a.csv", "reason": "torn", "text": "c-12,broken"},
]


def purge(folder, *values):
    return BadRowPurge(str(folder), frozenset({"id"}), frozenset(values), "ab12cd34")


def test_rows_and_texts(tmp_path):
    folder = tmp_path / "q"
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "rows-0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES) + "no json c-1\n")
    (folder / "run" / "rows-1.jsonl").write_text(json.dumps(LINES[0]) + "\n")
    assert purge(folder, "c-1", "7").count() == 5
    assert purge(folder, "c-1", "7").erase() == 5
    (left,) = (folder / "run").iterdir()
    assert left.name == "rows-0-ab12cd34.jsonl"
    assert [json.loads(line) for line in left.read_text().splitlines()] == [LINES[1], LINES[4]]
    assert purge(folder, "c-1", "7").erase() == 0


def test_a_killed_run_has_left_both_files(tmp_path):
    folder = tmp_path / "q"
    folder.mkdir()
    (folder / "rows-0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES[:2]))
    (folder / "rows-0-ab12cd34.jsonl").write_text(json.dumps(LINES[1]) + "\n")
    assert purge(folder, "c-1").erase() == 1
    assert [path.name for path in folder.iterdir()] == ["rows-0-ab12cd34.jsonl"]


def test_no_quarantine(tmp_path):
    assert purge(tmp_path / "nowhere", "c-1").erase() == 0


def test_a_condition_takes_no_rows_of_others(tmp_path):
    rows = [{"id": "c-1", "country": "DE"}, {"ID": "c-2", "country": "DE"}, {"id": "c-1", "country": "FR"}]
    lines = [json.dumps({"row": row}) for row in rows] + ["c-1;DE;torn", "c-2;DE;torn"]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    for condition, number in {
        "id = 'c-1' and country = 'DE'": 2,
        "id = 'c-1' and (age > 18)": 3,
        "'c-2' = \"ID\" or country in ('FR', 'IT')": 3,
        "not id = 'c-1'": 0,
        "country <> 'DE' and age > 18": 0,
    }.items():
        purge = BadRowPurge(str(tmp_path), frozenset({"id"}), frozenset(), "ab12cd34", condition)
        assert purge.count() == number, condition
