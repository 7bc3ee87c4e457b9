"""The engine of a run, and its progress."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hoodie
from hoodie.engine import LocalEngine, Stage
from hoodie.engine.progress import step_of
from hoodie.write.worker.bulk import BulkInsert
from hudi_services.cli.program import main
from hudi_services.registry.load import load_registry
from hudi_services.runtime.folders import PROJECT
from hudi_services.runtime.progress import line_of, progress_lines
from hudi_services.runtime.sizes import bytes_of
from hudi_services.sources.ingest.files.source import FilesSource
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, create


@pytest.mark.parametrize(
    ("text", "count"), [("10", 10), (7, 7), ("1k", 1024), ("256m", 256 << 20), ("2 GB", 2 << 30), ("1TiB", 1 << 40)]
)
def test_sizes(text, count):
    assert bytes_of(text) == count


@pytest.mark.parametrize("text", ["", "-1", "1.5g", "many", "1 x", True])
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="is no size"):
        bytes_of(text)


def _ingest(tmp_path, *more):
    (tmp_path / "land").mkdir(exist_ok=True)
    file = tmp_path / "land" / "1.parquet"
    if not file.exists():
        pq.write_table(pa.table({"id": ["a"], "n": [1]}), file)
    conf = ["--hoodie-conf=hoodie.table.name=t", "--hoodie-conf=hoodie.table.recordkey.fields=id"]
    return main(["ingest", f"--target-base-path={tmp_path}/t", f"--source-path={tmp_path}/land", *conf, *more])


def test_small_work_is_for_threads_and_the_reason_is_told(tmp_path, capsys):
    assert _ingest(tmp_path, "--engine=auto") == 0
    said = capsys.readouterr().out
    assert re.search(
        r"^engine: threads of this process, as the work is small: 1 new file of \d+ bytes; up to 256 MiB", said
    )


def test_large_work_is_for_spark(tmp_path, capsys, monkeypatch):
    opened = []

    def open_engine(name, *_rest, **_more):
        opened.append(name)
        return LocalEngine(), None

    monkeypatch.setattr("hudi_services.cli.service_command._open_engine", open_engine)
    assert _ingest(tmp_path, "--engine=auto", "--local-up-to=10") == 0
    assert opened == ["spark"]
    assert "engine: Spark, as the work is more than 10 bytes" in capsys.readouterr().out


def test_what_is_stored_in_the_partitions_written_last_counts(tmp_path, capsys):
    assert _ingest(tmp_path) == 0
    pq.write_table(pa.table({"id": ["b"], "n": [1]}), tmp_path / "land" / "2.parquet")
    assert _ingest(tmp_path, "--engine=auto") == 0
    found = re.search(
        r"1 new file of \d+ bytes, and (\S+) KiB in the 1 partition written last", capsys.readouterr().out
    )
    assert found is not None
    assert float(found[1]) > 1, "the base file"


def test_cleaning_is_never_large(tmp_path, capsys):
    create(tmp_path / "t").write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert main(["clean", f"--target-base-path={tmp_path}/t", "--engine=auto", "--local-up-to=0"]) == 0
    assert "engine: threads of this process" in capsys.readouterr().out


def test_the_registry_says_it_by_table_and_by_service(tmp_path):
    (tmp_path / "tables.yaml").write_text(
        """\
defaults: {engine: spark, local: {up_to: 1g}}
tables:
  - {name: a, base_path: /a, engine: local, clean: {engine: auto}}
  - {name: b, base_path: /b}
"""
    )
    registry = load_registry(tmp_path / "tables.yaml")
    from hudi_services.services.clean.entry import CLEAN
    from hudi_services.sources.ingest.entry import INGEST

    a, b = registry.tables
    assert [entry.engine_of(table) for table in (a, b) for entry in (INGEST, CLEAN)] == [
        "local",
        "auto",
        "spark",
        "spark",
    ]
    assert (b.local.up_to, b.local.memory) == (1 << 30, 2 << 30)


@pytest.mark.parametrize(
    ("entry", "message"),
    [("engine: fast", "engine"), ("local: {memory: 1m}", "memory"), ("local: {up_to: much}", "is no size")],
)
def test_mistakes_in_it_are_told(tmp_path, entry, message):
    from hudi_services.registry.load import read_registry

    (tmp_path / "tables.yaml").write_text(f"tables:\n  - name: a\n    base_path: /a\n    {entry}\n")
    [mistake] = read_registry(tmp_path / "tables.yaml").mistakes
    assert message in str(mistake)


def test_steps_are_the_words_of_what_runs():
    class WriteFiles:
        def __call__(self, task):
            return task

    stages = []
    assert LocalEngine(2, progress=stages.append).map(WriteFiles(), [1, 2, 3], [10, 20, 30]) == [1, 2, 3]
    assert stages[0] == Stage("write files", 3, 60)
    assert stages[-1] == Stage("write files", 3, 60, 3, 60)
    assert step_of(_ingest) == "ingest"
    assert step_of(BulkInsert) == "write files"


def test_a_write_tells_its_stages(tmp_path):
    stages = []
    table = create(tmp_path / "t", engine=LocalEngine(2, progress=stages.append))
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    last = {stage.step: stage for stage in stages}
    assert "write files" in last
    assert all(stage.tasks_done == stage.tasks for stage in last.values())
    assert all(stage.bytes_done == stage.bytes for stage in last.values())
    assert last["write files"].bytes > 0


def test_lines_come_while_one_task_works():
    lines: list[str] = []
    with progress_lines(lines.append, first=0.05, following=0.05) as progress:
        progress(Stage("write files", 12, 160 << 20, 3, 40 << 20))
        time.sleep(0.4)
    assert len(lines) >= 3
    assert re.fullmatch(
        r"write files: 3 of 12 tasks, 40.0 of 160 MiB, .*/s, 0 s", lines[0].replace("40.0 MiB of", "40.0 of")
    )
    before = len(lines)
    time.sleep(0.15)
    assert len(lines) == before


def test_quick_work_is_silent():
    lines: list[str] = []
    with progress_lines(lines.append) as progress:
        progress(Stage("write files", 1))
    assert lines == []


PTY = """
import pty, sys, os
sys.path[:0] = sys.argv[1:]
reader, writer = pty.openpty()
os.dup2(writer, 2)
from hoodie.engine.progress import Stage
from hudi_services.runtime import progress
progress._FIRST = 0.0
with progress.progress_shown(None) as shown:
    shown(Stage("write files", 12, 160 << 20, 3, 40 << 20, 12, 3))
    shown(Stage("write files", 12, 160 << 20, 6, 80 << 20, 12, 6))
os.write(writer, b"END")
said = b""
while not said.endswith(b"END"):
    said += os.read(reader, 65536)
sys.stdout.buffer.write(said)
"""


def test_a_terminal_has_a_bar_that_goes_away():
    folders = [str(Path(hoodie.__file__).parents[1]), str(PROJECT)]
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LANG": "C.UTF-8"}
    run = subprocess.run(
        [sys.executable, "-c", PTY, *folders], env=environ, capture_output=True, check=True, timeout=60
    )
    said = run.stdout.decode()
    assert "write files" in said
    assert "\u2501" in said, "the bar"
    assert "6 of 12 files, 80.0 MiB of 160 MiB" in said
    assert not re.search(r"/s, \d+ s", said), "the clock of the step is the only one"
    assert re.search(r"0:00:0\d", said)
    assert said.rstrip("END").endswith(("\x1b[2K", "\x1b[?25h")), "the line is erased"


def test_a_load_counts_files(tmp_path):
    (folder := tmp_path / "land").mkdir()
    stages = []
    for number in range(3):
        (folder / f"{number}.csv").write_text(f"id,part,ts,value\nk{number},p{number},1,1\n")
    source = FilesSource(str(folder), "csv")
    request = IngestRequest(f"{folder}_table", source, options={**OPTIONS, **SMALL_BLOOM})
    run_ingest(request, LocalEngine(2, progress=stages.append))
    last = {stage.step: (stage.files_done, stage.files) for stage in stages}
    assert last["read schemas"] == last["write files"] == (3, 3)
    read = [files for step, files in last.items() if step not in ("read schemas", "write files") and files[1]]
    assert read
    assert set(read) == {(3, 3)}


def test_a_line():
    assert line_of(Stage("tag", 0), 1.2) == "tag: 1 s"
    assert line_of(Stage("tag", 3, 0, 1, 0, 1, 1), 5) == "tag: 1 of 1 file, 5 s"
    assert line_of(Stage("tag", 3, 0, 1), 5) == "tag: 1 of 3 tasks, 5 s"
    assert (
        line_of(Stage("tag", 3, 100 << 20, 1, 50 << 20), 5) == "tag: 1 of 3 tasks, 50.0 MiB of 100 MiB, 10.0 MiB/s, 5 s"
    )
