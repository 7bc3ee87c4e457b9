"""A service's result on its way to whoever started it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hoodie.errors import ConfigError
from hoodie.storage import open_storage, walk_files
from hudi_services.result import ServiceResult, check_result_path, drop_result

RESULT = ServiceResult("clean", "3 files removed", instant="20260101000000000", files_deleted=3)


@pytest.mark.parametrize("kind", ["plain", "relative", "file", "s3", "memory"])
def test_it_arrives_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: Any, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    folder = {"plain": str(tmp_path), "relative": "", "file": f"file://{tmp_path}", "memory": "memory://results"}.get(
        kind
    )
    folder = s3.bucket() if folder is None else folder
    path = os.path.join(folder, "new", "result.json") if folder else "result.json"
    check_result_path(path)
    RESULT.write(path)
    RESULT.write(path)  # a second attempt of the driver
    assert ServiceResult.read(path) == RESULT
    drop_result(path)
    drop_result(path)
    with pytest.raises(FileNotFoundError):
        ServiceResult.read(path)
    assert list(walk_files(open_storage(folder or str(tmp_path)), "")) == []


def test_a_place_that_cannot_be_written_to_is_told_before_the_work(tmp_path: Path, s3: Any) -> None:
    (tmp_path / "file").write_text("")
    for path in (f"{tmp_path}/file/result.json", "s3://no-such-bucket-of-ours/result.json"):
        with pytest.raises(ConfigError, match=r"cannot be written to .*result\.json"):
            check_result_path(path)
