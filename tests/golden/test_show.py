"""Every table that Hudi wrote can be looked at, and rows are counted right without reading them."""

from __future__ import annotations

import json

import pytest

from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.log import BlockType, read_rows
from hoodie.view.log_blocks import blocks_of, counting
from hudi_services.cli.program import main
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.counts import row_counts
from hudi_services.operations.inspect.table_look import look_at

ARCHIVES = ["12v9", "15v6", "12merge", "15lists"]
ROWS = {BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA}
PAGES = [["table"], ["timeline"], ["commits"], ["partitions"], ["slices", "--all"], ["files"], ["logs"], ["locks"]]


def tables(folder):
    return sorted(path.parents[1] for path in folder.glob("*/.hoodie/hoodie.properties"))


@pytest.mark.parametrize("archive", ARCHIVES)
def test_every_page(golden, archive, capsys):
    for path in tables(golden(archive)):
        for page in PAGES:
            assert main(["show", *page, f"--target-base-path={path}"]) == 0, (path.name, page)
        capsys.readouterr()
        assert main(["show", "files", f"--target-base-path={path}", "--json"]) == 0
        base = [file["path"] for file in json.loads(capsys.readouterr().out)["files"] if file["kind"] == "base"]
        for file in base[:1]:
            assert main(["show", "file", file, f"--target-base-path={path}", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["rows"] > 0
        assert main(["diff", "2020-01-01", f"--target-base-path={path}"]) == 0


@pytest.mark.parametrize("archive", ARCHIVES)
def test_commits_count_the_rows_that_footers_and_blocks_count(golden, archive):
    logs = 0
    for path in tables(golden(archive)):
        look = look_at(ChosenTable(str(path)))
        every = [each for group in look.view.groups for each in group.slices]
        counts = row_counts(look, every)
        for each in every:
            found = counts.of([each])
            if each.base_file is not None:
                with BaseFileReader(look.storage, each.base_file.path) as reader:
                    assert reader.rows == found["rows"], (path.name, each.base_file.path)
            blocks = [block for log in each.log_files for block in blocks_of(look.storage, log)]
            blocks = [block for block in counting(blocks, look.state.timeline) if block.kind in ROWS]
            rows = sum(part.num_rows for block in blocks for part in read_rows(look.storage, block))
            assert rows == found["log_rows"], (path.name, each.file_id)
            logs += len(each.log_files)
    assert logs > 0 or archive == "15lists"


@pytest.mark.parametrize(
    ("archive", "name", "kind"), [("12v9", "mor_avro", "AVRO_DATA"), ("15v6", "mor_rollback", None)]
)
def test_blocks_of_logs(golden, archive, name, kind, capsys):
    assert main(["show", "logs", f"--target-base-path={golden(archive) / name}", "--json"]) == 0
    blocks = json.loads(capsys.readouterr().out)["blocks"]
    assert blocks
    if kind is not None:
        assert kind in {block["kind"] for block in blocks}
    else:
        command = next(block for block in blocks if block["kind"] == "COMMAND")
        assert command["says"].startswith("rolls back 2")
        assert not command["counts"]
