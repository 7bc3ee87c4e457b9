"""How far a service's process is: on the page of the run, not in its log; no trouble with it is one of the run."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hoodie.engine import Stage
from hoodie_airflow.output import Output
from hoodie_airflow.progress import followed, shown_progress
from hudi_services.cli.output_lines import say, say_progress
from hudi_services.runtime.progress import progress_lines
from hudi_services.runtime.progress_file import ProgressFile
from tests.support.airflow_task import context
from tests.support.cli import DONE, deliver, ingest
from tests.support.waiting import until

STAGE = Stage("merge rows", 4, 1000, 1, 250, 12, 3)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines(keepends=True)


def test_the_page_has_the_stage_and_the_log_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_lines(say, first=0.02, following=60, also=say_progress) as tell:
        tell(STAGE)
        time.sleep(0.2)
    run = context()
    with Output(tmp_path / "output.txt", shown_progress(run)) as output:
        shown = list(output.shown(lines(capsys)))
    assert shown == ["merge rows: 3 of 12 files, 250 bytes of 1,000 bytes, " + shown[0].split(", ", 2)[2]]
    pushed = run["ti"].xcoms["progress"]
    assert (pushed["step"], pushed["files_done"], pushed["bytes"]) == ("merge rows", 3, 1000)
    assert pushed["at"]
    assert pushed["seconds"] >= 0


def test_trouble_with_airflow_or_the_line_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    run = context()

    def refuse(key: str, value: object) -> None:
        raise RuntimeError("the API is away")

    run["ti"].xcom_push = refuse
    say_progress(STAGE, 1)
    told = [*lines(capsys), "[hudi progress] {", "[hudi progress] []", "[hudi] goes on"]
    with caplog.at_level(logging.WARNING), Output(tmp_path / "output.txt", shown_progress(run)) as output:
        assert list(output.shown(told)) == ["goes on"]
    assert [record.getMessage().split(": ", 1)[1] for record in caplog.records] == ["RuntimeError: the API is away"]


def test_what_the_line_says_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    say_progress(STAGE, 1.26)
    (line,) = lines(capsys)
    found = json.loads(line.removeprefix("[hudi progress] "))
    assert (found["tasks"], found["tasks_done"], found["seconds"]) == (4, 1, 1.3)


def test_a_driver_elsewhere_leaves_it_in_a_file(tmp_path: Path) -> None:
    run, path = context(), str(tmp_path / "progress.json")
    with followed(path, shown_progress(run), every=0.01):
        time.sleep(0.05)
        assert run["ti"].xcoms == {}, "nothing yet"
        file = ProgressFile(path)
        for done in (3, 12):
            file.keep(replace(STAGE, files_done=done), 1.26)
            until(lambda done=done: run["ti"].xcoms.get("progress", {}).get("files_done") == done)
        Path(path).write_text("{")  # half of it
        time.sleep(0.05)
    assert run["ti"].xcoms["progress"]["seconds"] == 1.3


def test_a_service_leaves_it_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def shown(_tell: object, also: Callable[[Stage, float], None]) -> Iterator[None]:
        also(STAGE, 2)
        yield None

    monkeypatch.setattr("hudi_services.cli.service_command.progress_shown", shown)
    deliver(tmp_path / "land", "1.parquet", [("a", "p", 1, 1)])
    path = tmp_path / "progress.json"
    assert ingest(tmp_path / "t", tmp_path / "land", f"--progress-path={path}") == DONE
    assert json.loads(path.read_text())["step"] == "merge rows"


def test_a_place_that_takes_nothing_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    file = ProgressFile("/proc/nowhere/progress.json")
    for _ in range(2):
        file.keep(STAGE, 1)
    (record,) = caplog.records
    assert "How far this is cannot be written to /proc/nowhere/progress.json" in record.getMessage()
