"""The objectives of tables: facts of real ones, the command, and what `show table` says of them."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hoodie import ARCHIVE, CLUSTERING, COMPACTION, HoodieTable
from hoodie.clock import SystemClock
from hoodie.errors import RegistryError
from hoodie.storage import open_storage
from hoodie.view import TableView, load_state
from hudi_services.cli.program import main
from hudi_services.entry.table import Table
from hudi_services.operations.objectives.facts import Facts
from hudi_services.operations.objectives.gather import gather
from hudi_services.registry.load import load_registry
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.tables import SMALL_BLOOM, batch, create

ALL = {"freshness": "1h", "log_ratio": 0.01, "small_files": 1, "clean_age": "1h", "timeline_length": 3}


def written(folder: Path, **options: str) -> HoodieTable:
    """Two base files in one partition and one in another; then updates."""
    table = create(folder / "orders", **options)
    for number in (1, 2):
        table.write(batch([(f"{number}", "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("3", "q", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("1", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    return table


def registered(folder: Path, wanted: Any = ALL, **more: Any) -> Path:
    file = folder / "tables.yaml"
    entry = {"name": "orders", "base_path": f"{folder}/orders", **more}
    file.write_text(json.dumps({"objectives": wanted, "tables": [entry]}))
    return file


def facts(file: Path) -> Facts:
    (entry,) = load_registry(file).tables
    state = load_state(open_storage(entry.base_path), SystemClock())
    return gather(entry, state, TableView(state), SystemClock())


@pytest.mark.parametrize("version", ["6", "9"])
def test_facts_of_a_merge_on_read_table(tmp_path, version):
    table = written(tmp_path, **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version})
    found = facts(registered(tmp_path))
    assert (found.base_files, found.logs.amount > 0, found.small.amount) == (3, True, 2)
    assert found.instants.amount == 4
    assert found.base_bytes == sum(each.base_file.size for each in table.file_slices())
    assert found.now - found.last_data < timedelta(minutes=1)
    assert found.waits is None


def test_a_compaction_is_no_new_data_and_leaves_no_logs(tmp_path):
    table = written(tmp_path, **{"hoodie.table.type": "MERGE_ON_READ"})
    before = facts(registered(tmp_path))
    table.schedule(COMPACTION, force=True)
    (done,) = table.run(COMPACTION)
    after = facts(registered(tmp_path))
    assert (after.last_data, after.logs.amount) == (before.last_data, 0)
    assert table.timeline.commits[-1].time == done.instant.time


@pytest.mark.parametrize("version", ["6", "9"])
def test_what_began_first_and_was_completed_last_is_the_last_commit(tmp_path, capsys, version):
    """A long write beside a short one: `freshness` uses completion times."""
    clock = FakeClock()
    table = create(tmp_path / "orders", clock, **{"hoodie.write.table.version": version})
    table.write(batch([("1", "p", 1, 1)]), "insert", SMALL_BLOOM)
    (first,) = table.timeline.commits
    folder = Path(table.base_path, ".hoodie", *(["timeline"] if version == "9" else []))
    late = (clock.now() + timedelta(hours=5)).replace(microsecond=0)
    earlier = str(int(first.time) - 1)
    for file in folder.glob(f"{first.time}*"):
        name = file.name.replace(str(first.time), earlier)
        if version == "9" and file.suffix == ".commit":
            name = f"{earlier}_{late:%Y%m%d%H%M%S}000.commit"
        shutil.copy(file, folder / name)
        os.utime(folder / name, (late.timestamp(), late.timestamp()))
        os.utime(file, (clock.now().timestamp(), clock.now().timestamp()))
    assert facts(registered(tmp_path, {"freshness": "1h"})).last_data == late
    assert main(["show", "table", "--target-base-path", table.base_path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["last_commit"] == late.isoformat()


def test_data_whose_commits_are_archived_is_data(tmp_path):
    table = written(tmp_path, **{"hoodie.table.type": "MERGE_ON_READ"})
    fresh = {"freshness": "1h"}
    before = facts(registered(tmp_path, fresh)).last_data
    for service in (COMPACTION, CLUSTERING):
        table.schedule(service, force=True)
        table.run(service)
    table.run(ARCHIVE, {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1})
    assert all(table.state().commit_metadata(each).moves_rows for each in table.timeline.commits)
    assert facts(registered(tmp_path, fresh)).last_data == before


def test_commits_wait_for_a_clean_that_has_something_to_remove(tmp_path):
    table = written(tmp_path)
    assert facts(registered(tmp_path)).waits is None
    options = {"hoodie": {"hoodie.clean.commits.retained": 1}}
    table.write(batch([("1", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    waits = facts(registered(tmp_path, clean=options)).waits
    first = table.timeline.commits[0]
    assert waits is not None
    assert abs((waits - facts(registered(tmp_path)).instants.points[0][0]).total_seconds()) < 0.01
    assert first.completion_time is not None
    assert main(["clean", "--table=orders", f"--registry={registered(tmp_path, clean=options)}"]) == 0
    assert facts(registered(tmp_path, clean=options)).waits is None


def test_only_what_is_asked_for_is_looked_at(tmp_path):
    written(tmp_path)
    (entry,) = load_registry(registered(tmp_path, {"timeline_length": 5, "freshness": "1h"})).tables
    storage = CountingStorage(entry.base_path)
    state = load_state(storage, SystemClock())
    gather(entry, state, TableView(state), SystemClock())
    assert storage.data() == [[], []]


def test_the_command_tells_what_is_missed_the_most_urgent_first(tmp_path, capsys):
    written(tmp_path, **{"hoodie.table.type": "MERGE_ON_READ"})
    file = registered(tmp_path)
    assert main(["objectives", f"--registry={file}", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["missed"] == 3
    assert [row["objective"] for row in told["objectives"] if not row["met"]] == [
        "log_ratio",
        "small_files",
        "timeline_length",
    ]
    urgencies = [row["urgency"] for row in told["objectives"]]
    assert urgencies == sorted(urgencies, reverse=True)
    assert all(datetime.fromisoformat(row["since"]) for row in told["objectives"] if not row["met"])
    assert main(["objectives", f"--registry={file}", "--missed"]) == 1
    text = capsys.readouterr().out
    assert "compact" in text
    assert "freshness" not in text


def test_objectives_that_are_met(tmp_path, capsys):
    written(tmp_path)
    file = registered(tmp_path, {"freshness": "1h"})
    assert main(["objectives", f"--registry={file}", "--table=orders"]) == 0
    assert "met" in capsys.readouterr().out


def test_a_table_of_ones_own_that_is_not_there_yet_is_stale_and_one_of_others_cannot_be_looked_at(tmp_path, capsys):
    source = {"keys": {"record_key": "id"}, "source": {"path": "/land", "format": "parquet"}}
    assert main(["objectives", f"--registry={registered(tmp_path, {'freshness': '1h'}, **source)}", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["objectives"]
    assert (row["objective"], row["value"], row["service"]) == ("freshness", None, "ingest")
    assert main(["objectives", f"--registry={registered(tmp_path)}", "--json"]) == 1
    assert "orders" in json.loads(capsys.readouterr().out)["errors"]


def test_no_objectives_at_all(tmp_path, capsys):
    assert main(["objectives", f"--registry={registered(tmp_path, {})}"]) == 2
    assert "No table has objectives" in capsys.readouterr().err


def test_a_table_with_a_mistake_in_its_entry_is_not_passed_over(tmp_path, capsys):
    written(tmp_path)
    file = registered(tmp_path, {"freshness": "1h"})
    said = json.loads(file.read_text())
    said["tables"].append({"name": "broken", "base_paht": "/data/broken"})
    file.write_text(json.dumps(said))
    assert main(["objectives", f"--registry={file}", "--json"]) == 1
    assert any("base_paht" in each for each in json.loads(capsys.readouterr().out)["mistakes"])
    assert main(["objectives", f"--registry={file}"]) == 1
    assert "base_paht" in capsys.readouterr().out
    file.write_text(json.dumps({**said, "tables": said["tables"][1:]}))
    for command in ("objectives", "history"):
        assert main([command, f"--registry={file}"]) == 1
        assert "base_paht" in capsys.readouterr().err


def test_show_table_tells_the_same(tmp_path, capsys):
    written(tmp_path)
    file = registered(tmp_path)
    main(["objectives", f"--registry={file}", "--json"])
    wanted = json.loads(capsys.readouterr().out)["objectives"]
    assert main(["show", "table", "--table=orders", f"--registry={file}", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["objectives"]
    assert {row["objective"]: row["met"] for row in shown} == {row["objective"]: row["met"] for row in wanted}
    main(["show", "table", "--table=orders", f"--registry={file}"])
    assert "timeline_length" in capsys.readouterr().out


def test_objectives_of_all_lie_under_those_of_a_table(tmp_path):
    file = registered(tmp_path, {"freshness": "1h", "small_files": 5}, objectives={"small_files": "10%"})
    (entry,) = load_registry(file).tables
    assert isinstance(entry, Table)
    assert (entry.objectives.freshness, entry.objectives.small_files) == (timedelta(hours=1), 0.1)


def test_a_mistake_in_those_of_all_has_their_line(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text("objectives:\n  freshness: soon\ntables:\n  - name: orders\n    base_path: /lake/orders\n")
    with pytest.raises(RegistryError, match=r"tables.yaml:2: orders.objectives.freshness: .*not a duration"):
        load_registry(file)
