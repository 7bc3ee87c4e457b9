"""Recordings: what Hudi answered to a test, given again without Hudi while the test asks the same.

The answers of Hudi on tables that have no file of ours depend on its jar and on the test alone. A test asks through `recorded`.
`RECORD=1` asks Hudi and writes the files of `recordings`, `DEEP=1` asks Hudi and compares, and otherwise the files answer.
A table whose files have changed since Hudi made it is refused, because a recording knows nothing of the change.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.interop.peer import HudiPeer, PeerError
from tests.interop.peer_env import ROOT

FOLDER = Path(__file__).parent / "recordings"
VARYING = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_file_name")
"""The meta columns that differ with each run. Answers to reads do without them."""
_ERROR_LENGTH = 3000
_LOCK = ROOT / "requirements" / "peer.lock"
_VARYING_TEXT = {
    "<id>": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "_<token>": r"_\d+-\d+-\d+",
    "<instant>": r"\d{17}|\d{14}",
    "<address>": r"@[0-9a-f]{5,}|\bo\d+\b",
}


class Mode(Enum):
    REPLAY = "the files answer"
    RECORD = "Hudi answers, and the files are written"
    COMPARE = "Hudi answers, and the files have to say the same"
    LIVE = "Hudi answers"


def mode_of(deep: bool, environment: Mapping[str, str] = os.environ) -> Mode:
    """How a test gets its answers; one marked `deep` has no recording."""
    if environment.get("RECORD") == "1":
        return Mode.LIVE if deep else Mode.RECORD
    if environment.get("DEEP") == "1":
        return Mode.LIVE if deep else Mode.COMPARE
    return Mode.REPLAY


@dataclass(frozen=True)
class Call:
    """A question, in short and as a digest of all of it, and its answer."""

    asks: str
    sha256: str
    answer: dict[str, Any]


@dataclass
class Recording:
    """The calls of one test, in order, and an archive of the tables that it opened."""

    path: Path
    peer: str
    command: str
    calls: list[Call] = field(default_factory=list)
    _tables: io.BytesIO = field(default_factory=io.BytesIO)
    _archive: tarfile.TarFile | None = None

    def load(self) -> None:
        if not self.path.exists():  # refused once the test asks
            return
        content = json.loads(self.path.read_text())
        if content["peer"] != self.peer:
            self.refuse(f"is of {content['peer']}, not of {self.peer}")
        self.calls = [Call(**call) for call in content["calls"]]

    def save(self) -> None:
        if not self.calls:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        calls = ",\n".join(json.dumps(asdict(call), ensure_ascii=False) for call in self.calls)
        self.path.write_text(f'{{"peer": {json.dumps(self.peer)}, "calls": [\n{calls}\n]}}\n')
        self._tables_path.unlink(missing_ok=True)
        if self._archive is not None:
            self._archive.close()
            self._tables_path.write_bytes(self._tables.getvalue())

    def at(self, place: int, asks: str, sha256: str) -> Call:
        """The call at a place, which has to be the one that the test makes."""
        if not self.calls:
            self.refuse("is not there")
        if place >= len(self.calls):
            self.refuse(f"ends before call {place + 1}, {asks}")
        call = self.calls[place]
        if call.sha256 != sha256:
            self.refuse(f"has another call {place + 1}: the test asks {asks}, the recording has {call.asks}")
        return call

    def ended(self, place: int) -> None:
        if place < len(self.calls):
            self.refuse(f"has call {place + 1}, {self.calls[place].asks}, which the test does not make")

    def pack(self, place: int, folder: Path) -> None:
        if self._archive is None:
            self._archive = tarfile.open(fileobj=self._tables, mode="w:xz", preset=9)  # noqa: SIM115 - until `save`
        self._archive.add(folder, str(place), filter=_owned_by_nobody)

    def unpack(self, place: int, folder: Path) -> None:
        if not self._tables_path.exists():
            self.refuse(f"has no {self._tables_path.name}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(self._tables_path) as archive:
            for member in archive:
                first, _, rest = member.name.partition("/")
                if first == str(place):
                    archive.extract(member.replace(name=f"{folder.name}/{rest}"), folder.parent, filter="data")

    def refuse(self, why: str) -> None:
        where = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        pytest.fail(f"the recording {where} {why}.\nRecord the test: {self.command}", pytrace=False)

    @property
    def _tables_path(self) -> Path:
        return self.path.with_suffix(".tar.xz")


class RecordedPeer:
    """Hudi, as `HudiPeer` is, for tables below `folder` that no other writer changes."""

    def __init__(self, mode: Mode, recording: Recording, folder: Path, live: Callable[[], HudiPeer]) -> None:
        self._mode, self._recording, self._folder, self._live = mode, recording, folder, live
        self._place = 0
        self._begun: set[Path] = set()
        self._files: dict[Path, frozenset[tuple[str, int, int]]] = {}  # of the tables that `table` has given
        if mode in (Mode.REPLAY, Mode.COMPARE):
            recording.load()

    def write(self, path: object, rows: pa.Table, options: Mapping[str, object], mode: str = "append") -> None:
        name = self._begin(path)
        asked = json.dumps([mode, dict(options)], sort_keys=True, default=str) + f"{rows.schema}{rows.to_pylist()!r}"
        asks = f"write {name}, {rows.num_rows} rows"
        self._ask(asks, asked, lambda hudi: hudi.write(path, rows, dict(options), mode), path)
        self._files.pop(Path(str(path)), None)

    def read(self, path: object, **options: object) -> pa.Table:
        """A snapshot as Hudi sees it, without the meta columns that differ with each run."""
        asks, asked = f"read {self._begin(path)}", json.dumps(options, sort_keys=True, default=str)
        return decoded(
            self._ask(asks, asked, lambda hudi: encoded(hudi.read(path, **options).drop_columns(VARYING)), path)
        )

    def sql(self, sql: str) -> list[dict]:
        for path in re.findall("location '([^']+)'", sql):
            self._begin(path)
        asks = self._anywhere(" ".join(sql.split()))
        return self._ask(asks[:60], asks, lambda hudi: {"rows": hudi.sql(sql)}, *self._files)["rows"]

    def table(self, path: object) -> str:
        """The folder of a table that Hudi has made, with all files of it. Returns its path."""
        folder, name, place = Path(str(path)), self._begin(path), self._place
        self._ask(f"table {name}", "", lambda _: {"files": shape(folder)}, path)
        if self._mode is Mode.RECORD:
            self._recording.pack(place, folder)
        if self._mode is Mode.REPLAY:
            shutil.rmtree(folder, ignore_errors=True)
            self._recording.unpack(place, folder)
        self._files[folder] = _files(folder)
        return str(path)

    def finish(self, passed: bool) -> None:
        """The test is over: write the recording of one that passed, or check that it has no further calls."""
        if passed and self._mode is Mode.RECORD:
            self._recording.save()
        if passed and self._mode in (Mode.REPLAY, Mode.COMPARE):
            self._recording.ended(self._place)

    def _begin(self, path: object) -> str:
        """The name of a table, whose folder is new or made by the calls before."""
        folder = Path(str(path))
        name = str(folder.relative_to(self._folder))
        if folder not in self._begun and folder.exists():
            pytest.fail(f"{name} was not made by these calls: ask Hudi itself for it, not a recording")
        self._begun.add(folder)
        return name

    def _ask(self, asks: str, request: str, live: Callable[[HudiPeer], dict | None], *paths: object) -> dict:
        """The answer to a call that reads or writes the tables of these paths."""
        folders = {Path(str(path)) for path in paths} & self._files.keys()
        for folder in folders:
            if _files(folder) != self._files[folder]:
                pytest.fail(f"{folder.name} has changed since Hudi made it: ask Hudi itself for it, not a recording")
        sha256 = hashlib.sha256(masked(self._anywhere(f"{asks}\n{request}")).encode()).hexdigest()[:20]
        if self._mode is Mode.REPLAY:
            answer = self._recording.at(self._place, asks, sha256).answer
        else:
            answer = self._asked(live)
            if self._mode is Mode.RECORD:
                self._recording.calls.append(Call(asks, sha256, answer))
            if self._mode is Mode.COMPARE:
                self._compare(self._recording.at(self._place, asks, sha256), answer)
            self._files |= {folder: _files(folder) for folder in folders}
        self._place += 1
        answer = json.loads(json.dumps(answer).replace("<folder>", str(self._folder)))
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def _asked(self, live: Callable[[HudiPeer], dict | None]) -> dict:
        """Hudi's answer, with `<folder>` for the folder of the test."""
        try:
            answer = live(self._live()) or {}
        except PeerError as error:
            answer = {"error": shortened(str(error))}
        return json.loads(self._anywhere(json.dumps(answer, default=str)))

    def _compare(self, call: Call, answer: dict) -> None:
        recorded, now = comparable(call.answer), comparable(answer)
        if recorded != now:
            lines = f"recorded: {recorded}\nHudi now: {now}"
            self._recording.refuse(f"differs from Hudi in call {self._place + 1}, {call.asks}:\n{lines}")

    def _anywhere(self, text: str) -> str:
        return text.replace(str(self._folder), "<folder>")


def comparable(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without what differs by run: instants, ids, the order of rows, and all of an error but its cause."""
    if "error" in answer:
        lines = answer["error"].splitlines()
        causes = [line for line in lines if line.startswith("Caused by")]
        return {"error": masked("\n".join(causes[-1:] or lines[:2]))}
    if "rows" in answer:
        return {**answer, "rows": sorted(masked(repr(row)) for row in answer["rows"])}
    return dict(answer)


def shortened(error: str) -> str:
    """An error of Java: its messages first, then what fits of the stacks."""
    lines = list(dict.fromkeys(error.splitlines()))
    lines.sort(key=lambda line: line.lstrip().startswith(("at ", "... ", "File ")))
    return "\n".join(lines)[:_ERROR_LENGTH]


def masked(text: str) -> str:
    """A text without what differs by run."""
    for name, pattern in _VARYING_TEXT.items():
        text = re.sub(pattern, name, text)
    return text


def encoded(table: pa.Table) -> dict[str, Any]:
    """Rows as JSON: the types of the columns, and a list for each row; bytes as hexadecimal digits."""
    types = {column.name: _named(column.type) for column in table.schema}
    columns = [column.to_pylist() for column in table.columns]
    return {"types": types, "rows": [[_plain(value) for value in row] for row in zip(*columns, strict=True)]}


def decoded(answer: Mapping[str, Any]) -> pa.Table:
    types = {name: _typed(kind) for name, kind in answer["types"].items()}
    columns = list(zip(*answer["rows"], strict=True)) or [()] * len(types)
    arrays = [
        pa.array([bytes.fromhex(v) if pa.types.is_binary(kind) and v is not None else v for v in column], kind)
        for column, kind in zip(columns, types.values(), strict=True)
    ]
    return pa.table(dict(zip(types, arrays, strict=True)))


def _named(kind: pa.DataType) -> Any:
    """A type as JSON."""
    if pa.types.is_struct(kind):
        return {"struct": {field.name: _named(field.type) for field in kind.fields}}
    if pa.types.is_list(kind):
        return {"list": _named(kind.value_type)}
    assert str(pa.type_for_alias(str(kind))) == str(kind), f"no recording holds {kind}"
    return str(kind)


def _typed(kind: Any) -> pa.DataType:
    """The type that `_named` gave this name."""
    if isinstance(kind, str):
        return pa.type_for_alias(kind)
    ((nesting, inner),) = kind.items()
    if nesting == "struct":
        return pa.struct([(name, _typed(part)) for name, part in inner.items()])
    return pa.list_(_typed(inner))


def shape(folder: Path) -> dict[str, int]:
    """How many files a table has of which names, without what differs by run and without checksums."""
    names = (masked(name) for name, _, _ in _files(folder) if not name.endswith(".crc"))
    return dict(sorted(Counter(names).items()))


def peer_of(version: str) -> str:
    """The pinned releases that a recording is of."""
    pyspark = re.search(r"^pyspark==(\S+)", _LOCK.read_text(), re.M)
    return f"Hudi {version}, Spark {pyspark[1] if pyspark else 'unknown'}"


def recording_of(node: str, version: str) -> Recording:
    """The recording of a test, by pytest's name of it: `tests/interop/test_x.py::test_y[z]`."""
    file, _, name = node.partition("::")
    path = FOLDER / Path(file).stem / (re.sub(r"[^\w.-]+", "_", name).strip("_") + ".json")
    return Recording(path, peer_of(version), f"make recordings ARGS='{file}'")


def _files(folder: Path) -> frozenset[tuple[str, int, int]]:
    files = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return frozenset((str(path.relative_to(folder)), stat.st_size, stat.st_mtime_ns) for path, stat in files)


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _owned_by_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
