"""Files, slices and partitions of a table of which a file is missing."""

from __future__ import annotations

import json

import pytest

from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, fill
from tests.support.tables import SMALL_BLOOM, batch, create


def look(capsys, path, *what, code=DONE):
    """The output of a look: text, and its values as JSON."""
    shown = []
    for more in ([], ["--json"]):
        assert main(["show", *what, f"--target-base-path={path}", *more]) == code
        shown.append(capsys.readouterr().out)
    return shown[0], json.loads(shown[1])


@pytest.mark.parametrize("kind", ["base", "log"])
def test_a_missing_file_is_shown_as_missing_and_no_older_slice_as_current(tmp_path, kind, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.table.type": "COPY_ON_WRITE" if kind == "base" else "MERGE_ON_READ"})
    fill(table)
    table.write(batch([("z", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    newest, other = sorted(table.file_slices(), key=lambda each: each.partition)
    gone = newest.base_file.path if kind == "base" else newest.log_files[-1].path
    (path / gone).unlink()
    others = {*newest.paths, *other.paths} - {gone}
    text, found = look(capsys, path, "files", code=FAILED)
    assert {file["path"] for file in found["files"] if not file["missing"]} == others
    (lost,) = [file for file in found["files"] if file["missing"]]
    assert (lost["path"], lost["kind"], lost["bytes"], lost["partition"]) == (gone, kind, None, "part=p")
    assert gone in found["problems"][0]
    assert f"To do: restore it from a backup, or run `hudi-services doctor --target-base-path {path}`" in text
    _, found = look(capsys, path, "slices", "--all", code=FAILED)
    current = [each for each in found["slices"] if each["current"]]
    assert {each["partition"]: each["missing"] for each in current} == {"part=p": [gone], "part=q": []}
    assert len(found["slices"]) == (4 if kind == "base" else 2)
    _, found = look(capsys, path, "slices", code=FAILED)
    assert found["slices"] == current
    _, found = look(capsys, path, "files", "--partition=part=q")
    assert [file["missing"] for file in found["files"]] == [False]
    _, found = look(capsys, path, "partitions", code=FAILED)
    assert {each["partition"]: each["missing"] for each in found["partitions"]} == {"part=p": [gone], "part=q": []}
    assert gone in found["problems"][0]
