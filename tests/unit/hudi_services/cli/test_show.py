"""Looking at a table, and its lock."""

from __future__ import annotations

import io
import re

import pytest

from hoodie import HoodieTable
from hudi_services.cli import main
from tests.support.cli import DONE, FAILED, fill, ingest, said
from tests.support.tables import create


@pytest.mark.parametrize("version", ["6", "9"])
def test_show(tmp_path, version, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.write.table.version": version})
    fill(table)
    first, _, last = table.timeline
    (path / table.state().layout.folder / "20990101000000000.clean.requested").write_bytes(b"x")

    def shown(what):
        assert main(["show", what, f"--target-base-path={path}"]) == DONE
        return capsys.readouterr().out.splitlines()

    assert f"hoodie.table.version={version}" in shown("table")
    timeline = [line.split() for line in shown("timeline")]
    assert timeline[0] == [first.time, "commit", "COMPLETED", first.completion_time]
    assert timeline[3] == ["20990101000000000", "clean", "REQUESTED"]
    commits = shown("commits")
    assert [line.split()[:2] for line in commits] == [[instant.time, "UPSERT"] for instant in table.timeline.commits]
    assert [line.split("  ")[-1] for line in commits] == ["+1 ~0 -0 rows", "+0 ~1 -0 rows", "+0 ~1 -0 rows"]
    [file] = shown("files")
    assert file.endswith(f"{last.time}.parquet")


def test_files_are_shown_with_their_own_sizes(tmp_path, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    fill(table)
    assert main(["show", "files", f"--target-base-path={path}"]) == DONE
    shown = [line.replace(",", "").split() for line in capsys.readouterr().out.splitlines()]
    assert len(shown) == 3
    assert [int(size) for size, _, name in shown] == [(path / name).stat().st_size for _, _, name in shown]


def test_a_torn_commit_is_told_with_the_table(path, capsys):
    state = HoodieTable.open(str(path)).state()
    torn = path / state.layout.folder / state.timeline.commits[1].file_name
    torn.write_bytes(torn.read_bytes()[:40])
    assert main(["show", "table", f"--target-base-path={path}"]) == FAILED
    assert torn.name in said(capsys)


def test_a_locked_table_is_unlocked_by_hand_only(path, land, monkeypatch, capsys):
    lock = path / ".hoodie" / "lock"
    lock.write_text('{"lockThreadName": "of another machine"}')
    assert ingest(path, land, "--hoodie-conf=hoodie.write.lock.wait_time_ms=0") == FAILED
    assert re.search(r"LockHeldError.*of another machine.*`hudi-services unlock`", said(capsys))
    unlock = ["unlock", f"--target-base-path={path}"]
    for answer in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        assert main(unlock) == FAILED
        shown = capsys.readouterr()
        assert "of another machine" in shown.out
        assert "nothing was changed" in shown.err
        assert lock.exists()
    assert main([*unlock, "--yes"]) == DONE
    assert "removed the lock" in capsys.readouterr().out
    assert not lock.exists()
    assert main(unlock) == DONE
    assert "the table is not locked" in capsys.readouterr().out
    assert ingest(path, land, "--hoodie-conf=hoodie.write.lock.wait_time_ms=0") == DONE
