"""The gain that services report agrees with the change of the table's files."""

from __future__ import annotations

import json
from pathlib import Path

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.tables import SMALL_BLOOM, batch, create

MERGE_ON_READ = {"hoodie.table.type": "MERGE_ON_READ"}


def ran(capsys, service, table, *flags):
    capsys.readouterr()
    assert main([service, f"--target-base-path={table.base_path}", "--json", *flags]) == 0
    return json.loads(capsys.readouterr().out)


def data_bytes(table: HoodieTable) -> int:
    return sum(file.stat().st_size for file in Path(table.base_path).glob("*/*.parquet"))


def test_a_clean_frees_what_it_removes(tmp_path, capsys):
    table = create(tmp_path / "orders")
    for number in range(4):
        table.write(batch([("1", "p", number, number)]), "upsert", SMALL_BLOOM)
    before = data_bytes(table)
    gain = ran(capsys, "clean", table, "--hoodie-conf=hoodie.clean.commits.retained=1")["gain"]
    assert gain["bytes_freed"] == before - data_bytes(table) > 0
    assert (gain["log_bytes_merged"], gain["files_before"]) == (None, None)


def test_a_compaction_merges_logs(tmp_path, capsys):
    table = create(tmp_path / "orders", **MERGE_ON_READ)
    for number in range(3):
        table.write(batch([("1", "p", number, number)]), "upsert", SMALL_BLOOM)
    (merged,) = table.file_slices()
    result = ran(capsys, "compact", table, "--force")
    assert result["gain"] == {
        "bytes_freed": None,
        "log_bytes_merged": sum(log.info.size for log in merged.log_files),
        "files_before": len(merged.files),
        "files_after": 1,
    }
    assert (len(merged.files), result["bytes_read"], result["files_read"]) == (3, merged.size, 3)
    assert result["uncounted"] == ["rows_read"]


def test_a_clustering_packs_files(tmp_path, capsys):
    table = create(tmp_path / "orders", **MERGE_ON_READ)
    for number in (1, 2):
        table.write(batch([(f"{number}", "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("1", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    files = sum(len(each.files) for each in table.file_slices())
    size = sum(each.size for each in table.file_slices())
    result = ran(capsys, "cluster", table, "--force")
    assert (result["files_read"], result["bytes_read"], result["uncounted"]) == (files, size, ["rows_read"])
    gain = result["gain"]
    assert (files, gain["files_before"], gain["files_after"]) == (3, 3, 1)
