"""The log of a command as lines of JSON, with the table, the service and the instant."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from hudi_services.cli.json_logs import log_fields, logs_as_json
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, clean, deliver, ingest


@pytest.fixture(autouse=True)
def _asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUDI_LOG_FORMAT", "json")


def lines(text: str) -> list[dict[str, str]]:
    """Those of JSON."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_a_service_tells_where_it_ran_and_what_it_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(tmp_path / "land", "1.parquet", [("a", "p", 1, 1)])
    assert ingest(tmp_path / "t", tmp_path / "land", "--json") == DONE
    told = capsys.readouterr()
    result, (*before, last) = json.loads(told.out), lines(told.err)
    assert last["hudi_instant"] == result["instant"]
    assert last["event"] == result["message"]
    assert all(each["hudi_table"] == str(tmp_path / "t") and each["hudi_service"] == "ingest" for each in before)
    assert logging.root.handlers == [each for each in logging.root.handlers if type(each).__name__ != "_Lines"]


def test_an_error_is_a_line_and_is_told_to_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(tmp_path / "gone") == FAILED
    told = capsys.readouterr().err
    (line,) = lines(told)
    assert (line["level"], line["hudi_service"]) == ("error", "clean")
    assert line["event"].startswith("TableNotFoundError: ")
    assert "hudi-services: TableNotFoundError" in told


def test_whatever_is_logged_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(logging.root.handlers)
    with logs_as_json({"HUDI_LOG_FORMAT": "json"}), monkeypatch.context() as alone:
        # pytest would keep the half of a character in its report, which xdist cannot send
        alone.setattr(logging.root, "handlers", [each for each in logging.root.handlers if each not in before])
        log_fields(hudi_table='"\n')
        try:
            raise ValueError("a\nb")
        except ValueError:
            logging.getLogger("other").exception('%s\n"', "x\ud800")
    (line,) = [json.loads(each) for each in capsys.readouterr().err.splitlines()]
    assert (line["hudi_table"], line["event"], line["logger"]) == ('"\n', 'x\ud800\n"', "other")
    assert "ValueError: a\nb" in line["exception"]
    assert logging.root.handlers == before


def test_another_format_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUDI_LOG_FORMAT", "xml")
    assert main(["show", "--help"]) == 2
    assert "HUDI_LOG_FORMAT names no format of logs. Found: xml" in capsys.readouterr().err
    monkeypatch.setenv("HUDI_LOG_FORMAT", "")
    assert main(["show", "--help"]) == DONE
