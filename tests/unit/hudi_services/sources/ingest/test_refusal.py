"""The refusal of the last load: kept, replaced, forgotten, and never in the way of the load."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.ingest.refusal import Refusal, forget_refusal, keep_refusal, last_refusal

AT = datetime(2026, 11, 28, 12, tzinfo=UTC)


def error(what):
    return SourceError(what, found="a value of a row", fix="repair it")


def test_the_last_one_is_kept_without_values_until_it_is_forgotten(tmp_path):
    folder = f"{tmp_path}/orders.quarantine"
    assert last_refusal(folder, "/orders") is None
    forget_refusal(folder, "/orders")
    for what in ("No file", "No key."):
        keep_refusal(folder, "/orders", error(what), AT)
    assert last_refusal(folder, "/orders") == Refusal(AT, "No key. To do: repair it")
    assert last_refusal(folder, "/others") is None, "tables may share a folder"
    forget_refusal(folder, "/others")
    forget_refusal(folder, "/orders")
    assert last_refusal(folder, "/orders") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"at": "noon", "error": ""}', '{"at": 1, "error": ""}', "null"])
def test_a_file_with_another_content_is_no_refusal(tmp_path, text):
    keep_refusal(str(tmp_path), "/orders", error("No key"), AT)
    [file] = tmp_path.iterdir()
    file.write_text(text)
    assert last_refusal(str(tmp_path), "/orders") is None


def test_a_folder_that_cannot_be_written_is_logged(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    folder = f"{tmp_path}/file/orders.quarantine"
    keep_refusal(folder, "/orders", error("No key"), AT)
    assert "The reason of the refused load was not kept" in caplog.text
