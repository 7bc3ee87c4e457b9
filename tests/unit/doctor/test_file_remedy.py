"""The ways that the doctor names for a lost file: each command is carried out as it is printed, and brings all rows back."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hoodie.storage import walk_files
from hudi_services.cli.program import main
from tests.support.registered import advised, registered

CSV = ("id,dt,ts\n1,x,1\n2,x,1\n3,y,1\n", "id,dt,ts\n1,x,2\n", "id,dt,ts\n3,y,2\n")


def loaded(tmp_path, kind, loads=3):
    """A table of as many loads, and its rows."""
    (tmp_path / "landing").mkdir()
    source = {"path": f"{tmp_path}/landing", "format": "csv"}
    keys = {"record_key": ["id"], "partition_by": ["dt"], "ordering": ["ts"]}
    file = registered(tmp_path, {"name": "orders", "type": kind, "keys": keys, "source": source})
    for number, text in enumerate(CSV[:loads]):
        (tmp_path / f"landing/{number}.csv").write_text(text)
        assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    return file, HoodieTable.open(f"{tmp_path}/orders")


def rows(table):
    columns = table.read(columns=["id", "dt", "ts"])
    return sorted(columns.to_pylist(), key=lambda row: row["id"])


def lose(table, partition):
    """Delete the file of the partition that was written last."""
    paths = [path.path for path in walk_files(table.storage, partition) if Path(path.path).suffix == ".parquet"]
    paths += [path.path for path in walk_files(table.storage, partition) if ".log." in path.path]
    last = max(paths, key=lambda path: Path(table.base_path, path).stat().st_mtime_ns)
    table.storage.delete(last)


def test_a_partition_that_someone_renamed(tmp_path):
    """Its files are moved back by the command, and `--fix` does not move them aside before."""
    _, table = loaded(tmp_path, "COPY_ON_WRITE")
    before = rows(table)
    (tmp_path / "orders/x").rename(tmp_path / "orders/x_old")
    main(["doctor", "--fix", "--yes", f"--target-base-path={tmp_path}/orders"])
    [finding] = table.diagnose().findings
    assert (finding.check, finding.path.partition("/")[0]) == ("missing-file", "x")
    assert "is at x_old/" in finding.found
    [command] = re.findall(r"`([^`]+)`", finding.remedy)
    assert len(list((tmp_path / "orders/x_old").glob("*.parquet"))) == 2, "the file of the older slice is there, too"
    subprocess.run(command, shell=True, check=True)
    assert rows(HoodieTable.open(table.base_path)) == before
    assert not table.diagnose().findings


def commands(table):
    [remedy] = {finding.remedy for finding in table.diagnose().findings if finding.check == "missing-file"}
    assert remedy.startswith("restore it from a backup. Without one, ")
    return re.findall(r"`hudi-services ([^`]+)`", remedy)


def carry_out(command, file):
    yes = ["--yes"] if command.startswith(("rollback", "restore", "savepoint delete")) else []
    assert main([*command.split(), "--table=orders", f"--registry={file}", *yes]) == 0


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("partition", ["x", "y"])
@pytest.mark.parametrize("way", ["back", "overwrite"])
def test_each_way_brings_all_rows_back(tmp_path, kind, partition, way):
    file, table = loaded(tmp_path, kind)
    before = rows(table)
    lose(table, partition)
    *back, overwrite = commands(table)
    assert [command.split(" -")[0] for command in back] == (
        ["savepoint create", "restore", "ingest", "savepoint delete"] if partition == "x" else ["rollback", "ingest"]
    )
    assert f"hudi-services {back[0]} --table orders" == advised(file, "orders")["doctor"].fix
    for command in back if way == "back" else [overwrite]:
        carry_out(command, file)
    assert rows(HoodieTable.open(table.base_path)) == before
    assert HoodieTable.open(table.base_path).diagnose().severity is None
    assert HoodieTable.open(table.base_path).savepoints() == []


def test_files_of_two_commits_go_back_to_before_the_first(tmp_path):
    file, table = loaded(tmp_path, "COPY_ON_WRITE")
    before = rows(table)
    lose(table, "x")
    lose(table, "y")
    *back, _ = commands(table)
    assert [command.split(" -")[0] for command in back] == ["savepoint create", "restore", "ingest", "savepoint delete"]
    assert table.timeline.commits[0].time in back[0]
    for command in back:
        carry_out(command, file)
    assert rows(HoodieTable.open(table.base_path)) == before


def test_a_file_whose_earlier_slice_was_cleaned_has_no_way_back(tmp_path):
    _, table = loaded(tmp_path, "COPY_ON_WRITE")
    for path in [path.path for path in walk_files(table.storage, "y") if path.path.endswith(".parquet")]:
        table.storage.delete(path)
    [overwrite] = commands(table)
    assert overwrite.startswith("ingest --reload --operation insert_overwrite ")


def test_the_first_commit_has_only_the_source(tmp_path):
    file, table = loaded(tmp_path, "COPY_ON_WRITE", loads=1)
    before = rows(table)
    lose(table, "x")
    back, load, _ = commands(table)  # it is the last one, too
    assert back.startswith("rollback --instant ")
    carry_out(back, file)
    carry_out(load, file)
    assert rows(HoodieTable.open(table.base_path)) == before


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("same_group", [True, False])
def test_a_cut_file_of_a_table_whose_commit_before_lacks_a_file(tmp_path, kind, same_group):
    """The way goes back to the newest state that is whole."""
    file, table = loaded(tmp_path, kind, loads=1)
    first = table.timeline.commits[0].time
    for number, text in enumerate(("id,dt,ts\n1,x,2\n3,y,2\n", "id,dt,ts\n1,x,3\n3,y,3\n")):
        (tmp_path / f"landing/more{number}.csv").write_text(text)
        assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    before = rows(HoodieTable.open(table.base_path))
    second, third = (commit.time for commit in HoodieTable.open(table.base_path).timeline.commits[1:])
    [cut] = (tmp_path / "orders/x").glob(f"*{third}*")
    cut.write_bytes(cut.read_bytes()[:-99])
    [lost] = (tmp_path / ("orders/x" if same_group else "orders/y")).glob(f"*{second}*")
    lost.unlink()
    [remedy] = {
        finding.remedy
        for finding in HoodieTable.open(table.base_path).diagnose().findings
        if finding.check != "unchecked"
    }
    *back, _ = re.findall(r"`hudi-services ([^`]+)`", remedy)
    assert back[:2] == [f"savepoint create --instant {first}", f"restore --savepoint {first}"]
    for command in back:
        carry_out(command, file)
    assert rows(HoodieTable.open(table.base_path)) == before
    assert HoodieTable.open(table.base_path).diagnose().severity is None
