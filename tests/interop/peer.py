"""The tests' side of the peer: starts it, sends commands, moves rows as Parquet."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.interop.peer_env import BUNDLES, PYTHON

ANSWER_SECONDS = 600.0  # a command takes seconds, also beside other work


class HudiPeer:
    """Apache Hudi of one version in a process of its own."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.write_defaults: dict[str, object] = {}
        """Options of `write` that it takes unless a test names others."""
        self._folder = Path(tempfile.mkdtemp(prefix="hudi-peer-"))
        self._log = open(self._folder / "peer.log", "w")  # noqa: SIM115 - open as long as the peer
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(PYTHON)}
        for name in ("SPARK_HOME", "PYTHONPATH", "SPARK_CONF_DIR", "PYSPARK_DRIVER_PYTHON"):
            environment.pop(name, None)
        script = Path(__file__).with_name("hudi_peer.py")
        self._process = subprocess.Popen(
            [PYTHON, script, BUNDLES[version], self._folder / "warehouse"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment,
            cwd=self._folder,
        )
        self._answer()

    def _answer(self) -> dict:
        answers, _, _ = select.select([self._process.stdout], [], [], ANSWER_SECONDS)
        line = self._process.stdout.readline() if answers else ""
        if not line:
            what = "ended" if answers else f"gave no answer in {ANSWER_SECONDS:.0f} seconds"
            log = (self._folder / "peer.log").read_text()[-3000:]
            self._process.kill()
            raise RuntimeError(f"the peer {what}: {log}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"] + "\n" + answer["trace"])
        return answer

    def _call(self, command: str, **arguments: object) -> dict:
        self._process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Suspend the process for the time of the block, in the middle of its work."""
        processes = _with_children(self._process.pid)
        for each in processes:
            os.kill(each, signal.SIGSTOP)
        try:
            yield
        finally:
            for each in processes:
                os.kill(each, signal.SIGCONT)

    def read(self, path: object, **options: object) -> pa.Table:
        """A snapshot as Hudi sees it, meta columns included."""
        output = self._folder / "out"
        shutil.rmtree(output, ignore_errors=True)
        self._call("read", path=str(path), output=str(output), options=options)
        files = sorted(output.glob("*.parquet"))
        return pa.concat_tables([pq.ParquetFile(file).read() for file in files])

    def write(self, path: object, rows: pa.Table, options: dict[str, object], mode: str = "append") -> None:
        source = self._folder / "in.parquet"
        pq.write_table(rows, source)
        self._call("write", path=str(path), input=str(source), options=self.write_defaults | options, mode=mode)

    def clean(self, path: object, **options: object) -> list[dict]:
        return self._call("clean", path=str(path), options=options)["rows"]

    def log_compaction(self, path: object, instant: str | None = None, **options: object) -> str | None:
        """Schedule a log compaction, or execute the one of `instant`. Gives its instant, None when none is due."""
        texts = {key: str(value) for key, value in options.items()}
        return self._call("log_compaction", path=str(path), instant=instant, options=texts)["instant"]

    def sql(self, sql: str) -> list[dict]:
        return self._call("sql", sql=sql)["rows"]

    def read_hfile(self, path: object, kind: str, keys: Sequence[bytes] = ()) -> HFileContent:
        """An HFile as Hudi's own reader (`native`) or 0.15.0's `hbase` sees it; `keys` (ascending) are sought one by one."""
        answer = self._call("hfile_read", path=str(path), kind=kind, keys=[key.hex() for key in keys])
        entries, found = (
            [(bytes.fromhex(key), bytes.fromhex(value)) for key, value in answer[name]] for name in ("entries", "found")
        )
        info = {name: bytes.fromhex(value) for name, value in answer["info"].items()}
        bloom = answer["bloom"]
        return HFileContent(entries, answer["count"], found, info, None if bloom is None else bytes.fromhex(bloom))

    def write_hfile(
        self,
        path: object,
        kind: str,
        codec: str,
        block_size: int,
        entries: Sequence[tuple[bytes, bytes]],
        index_size: int = 128 * 1024,
    ) -> None:
        """An HFile of Hudi's own writer (1.2.0) or 0.15.0's `hbase`, whose index gets levels of `index_size` bytes."""
        pairs = [(key.hex(), value.hex()) for key, value in entries]
        arguments = {"kind": kind, "codec": codec, "block_size": block_size, "index_size": index_size}
        self._call("hfile_write", path=str(path), entries=pairs, **arguments)

    def bootstrap_index(self, path: object) -> dict:
        """A table's bootstrap index: its `base`, and its files `by_partition` and `by_id`."""
        return self._call("bootstrap_index", path=str(path))

    def stop(self) -> None:
        if self._process.poll() is None:
            try:
                self._process.stdin.write('{"command": "stop"}\n')
                self._process.stdin.flush()
                self._process.wait(30)
            except (OSError, subprocess.TimeoutExpired):
                self._process.kill()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True)
class HFileContent:
    """All entries, how many the file says it has, the entries that were sought, file info, the bloom filter's meta block."""

    entries: list[tuple[bytes, bytes]]
    count: int
    found: list[tuple[bytes, bytes]]
    info: dict[str, bytes]
    bloom: bytes | None


class PeerError(RuntimeError):
    """Hudi's answer in place of a result."""


def _with_children(process: int) -> list[int]:
    below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(each for child in below for each in _with_children(int(child)))]
