"""Recordings of Hudi: they answer only what was asked of Hudi, and those in the repository are of tests that exist."""

from __future__ import annotations

import json
import math
import re
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.interop.peer import PeerError
from tests.interop.recording import FOLDER, Mode, RecordedPeer, Recording, decoded, encoded, mode_of
from tests.support.faults import assert_no_faults

ROWS = pa.table({"id": ["a", "b"], "price": [1.5, math.nan], "raw": [b"\x00\xff", None]})
MOST_BYTES = 3 << 20


class Hudi:
    """Writes a file for each write, named by random ids, and reads back what was written last."""

    def __init__(self, rows: pa.Table = ROWS) -> None:
        self.rows, self.calls = rows, 0

    def write(self, path: Path, rows: pa.Table, options: object, mode: str) -> None:
        self.calls += 1
        if rows.num_rows == 0:
            frames = "\tat org.apache.Frame\n" * 300
            raise PeerError(
                f"calling o{self.calls}.save.\n{frames}Caused by: {path} has no rows at {uuid.uuid4()}\n{frames}"
            )
        path.mkdir(exist_ok=True)
        (path / f"{uuid.uuid4()}-0_0-{self.calls}-7_20260101000000000.parquet").write_text("rows")

    def read(self, path: Path, **options: object) -> pa.Table:
        self.calls += 1
        varying = {name: ["x"] * self.rows.num_rows for name in ("_hoodie_commit_time", "_hoodie_commit_seqno")}
        return pa.table({**varying, "_hoodie_file_name": varying["_hoodie_commit_time"], **self._columns()})

    def sql(self, sql: str) -> list[dict]:
        self.calls += 1
        return [{"commit": "20260101000000000", "files": 2}]

    def _columns(self) -> dict[str, Any]:
        return dict(zip(self.rows.column_names, self.rows.columns, strict=True))


@pytest.fixture
def peer(tmp_path):
    """Gives the peer of one run of a test, whose folder is new; all runs have one recording."""

    def give(mode: Mode, hudi: Hudi | None = None, release: str = "Hudi 1.2.0") -> RecordedPeer:
        folder = tmp_path / str(uuid.uuid4())
        folder.mkdir()
        recording = Recording(tmp_path / "recordings" / "case.json", release, "make recordings ARGS=file")
        return RecordedPeer(mode, recording, folder, lambda: hudi or Hudi())

    return give


def asked(peer: RecordedPeer, rows: pa.Table = ROWS) -> tuple[pa.Table, list[dict], str]:
    path = peer._folder / "t"
    peer.write(path, rows, {"option": 1}, "overwrite")
    with pytest.raises(PeerError, match="no rows"):
        peer.write(path, rows.slice(0, 0), {})
    answers = peer.read(path), peer.sql("call show_commits"), peer.table(path)
    peer.finish(True)
    return answers


def test_a_recording_answers_as_hudi_did(peer):
    rows, commits, path = asked(peer(Mode.RECORD))
    hudi = Hudi()
    replayed_rows, replayed_commits, replayed_path = asked(peer(Mode.REPLAY, hudi))
    assert hudi.calls == 0
    assert rows.column_names == ROWS.column_names
    assert replayed_rows.schema == ROWS.schema
    assert str(replayed_rows.to_pylist()) == str(rows.to_pylist()) == str(ROWS.to_pylist())
    assert replayed_commits == commits
    assert [file.name for file in Path(replayed_path).iterdir()] == [file.name for file in Path(path).iterdir()]
    asked(peer(Mode.COMPARE))


def test_it_refuses_what_was_not_recorded(peer):
    with pytest.raises(pytest.fail.Exception, match=r"is not there\.\nRecord the test: make recordings ARGS=file"):
        asked(peer(Mode.REPLAY))
    for mode in (Mode.RECORD, Mode.REPLAY):  # of a test that asks nothing
        peer(mode).finish(True)
    asked(peer(Mode.RECORD))
    with pytest.raises(pytest.fail.Exception, match=r"is of Hudi 1\.2\.0, not of Hudi 1\.2\.1"):
        peer(Mode.REPLAY, release="Hudi 1.2.1")
    with pytest.raises(pytest.fail.Exception, match="another call 1: the test asks write t, 2 rows"):
        asked(peer(Mode.REPLAY), ROWS.set_column(0, "id", [["a", "c"]]))
    replayed = peer(Mode.REPLAY)
    with pytest.raises(pytest.fail.Exception, match="has call 1, write t, 2 rows, which the test does not make"):
        replayed.finish(True)
    replayed.finish(False)
    asked(replayed)
    with pytest.raises(pytest.fail.Exception, match="ends before call 6, call help"):
        replayed.sql("call help")


def test_asked_again_hudi_has_to_say_the_same(peer):
    asked(peer(Mode.RECORD))
    with pytest.raises(pytest.fail.Exception, match="differs from Hudi in call 3, read t"):
        asked(peer(Mode.COMPARE, Hudi(ROWS.set_column(0, "id", [["a", "c"]]))))
    recording = peer(Mode.COMPARE)._recording
    for word, other, call in (
        ('"a"', '"x"', "3, read t"),
        ('"files": 2', '"files": 3', "4, call show_commits"),
        (".parquet", ".orc", "5, table t"),
        ("has no rows", "is full", "2, write t, 0 rows"),
    ):
        text = recording.path.read_text()
        recording.path.write_text(text.replace(word, other))
        with pytest.raises(pytest.fail.Exception, match=f"differs from Hudi in call {call}"):
            asked(peer(Mode.COMPARE))
        recording.path.write_text(text)


def test_no_file_of_others_comes_into_it(peer):
    for mode in (Mode.RECORD, Mode.REPLAY):
        hudi = peer(mode)
        path = Path(asked(hudi)[2])
        hudi.read(path) if mode is Mode.RECORD else None
        (path / "ours").write_text("")
        with pytest.raises(pytest.fail.Exception, match="t has changed since Hudi made it: ask Hudi itself"):
            hudi.read(path)
        with pytest.raises(pytest.fail.Exception, match="t has changed"):
            hudi.sql("call help")
        (path.parent / "other").mkdir()
        (path / "ours").unlink()
        for call in (hudi.table, hudi.read, lambda path, hudi=hudi: hudi.write(path, ROWS, {})):
            with pytest.raises(pytest.fail.Exception, match="other was not made by these calls"):
                call(path.parent / "other")


def test_who_answers():
    modes = {(name, deep): mode_of(deep, {name: "1"}) for name in ("", "DEEP", "RECORD") for deep in (False, True)}
    assert modes == {
        ("", False): Mode.REPLAY,
        ("", True): Mode.REPLAY,
        ("DEEP", False): Mode.COMPARE,
        ("DEEP", True): Mode.LIVE,
        ("RECORD", False): Mode.RECORD,
        ("RECORD", True): Mode.LIVE,
    }


def test_rows_without_rows_and_types_that_no_recording_holds():
    assert decoded(encoded(ROWS.slice(0, 0))) == ROWS.slice(0, 0)
    kind = pa.struct([("list", pa.list_(pa.struct([("n", pa.int32())]))), ("text", pa.string())])
    nested = pa.table({"s": pa.array([{"list": [{"n": 1}, None], "text": "x"}, None], kind)})
    assert decoded(json.loads(json.dumps(encoded(nested)))) == nested
    with pytest.raises(ValueError, match="timestamp"):
        encoded(pa.table({"at": pa.array([], pa.timestamp("us", "UTC"))}))


def test_each_recording_is_of_a_test():
    """A recording whose test is gone is deleted with it."""

    def faults():
        for path in sorted(FOLDER.rglob("*.*")):
            source = FOLDER.parent / f"{path.parent.name}.py"
            name = re.match(r"test_[a-z0-9_]+", path.name)
            tests = re.findall(r"^def (test_\w+)", source.read_text(), re.M) if source.exists() else []
            if not name or not any(name[0].startswith(test) for test in tests):
                yield f"{path}: no test has this recording"
            if path.suffix == ".xz" and '"table ' not in path.with_name(path.name[:-7] + ".json").read_text():
                yield f"{path}: no call gives its tables"

    assert_no_faults(faults())
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < MOST_BYTES


def test_a_recording_can_be_read():
    for path in sorted(FOLDER.rglob("*.json")):
        assert set(json.loads(path.read_text())) == {"peer", "calls"}
