"""versitygw, a real S3 server on a local folder: built once by Go, kept in `.peer/`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.interop.peer_env import PEER
from tests.support.s3 import KEY, S3, SECRET, reached
from tests.support.servers import Server, free_port

_MODULE = "github.com/versity/versitygw/cmd/versitygw"
_VERSION = "v1.8.0"
_OLDEST_GO = (1, 25)


def program() -> Path | None:
    """The server's program, built if need be (a minute and a half); None where Go cannot build it."""
    built = PEER / f"versitygw-{_VERSION}" / "versitygw"
    if not built.exists():
        go = shutil.which("go")
        if go is None or _version(go) < _OLDEST_GO:
            return None
        part = built.parent.with_suffix(".part")
        environment = {**os.environ, "GOBIN": str(part), "CGO_ENABLED": "0"}
        if subprocess.run([go, "install", f"{_MODULE}@{_VERSION}"], env=environment, check=False).returncode != 0:
            return None  # Go has said why; without its module proxy there is no server to build
        part.rename(built.parent)
    return built


@contextmanager
def versitygw_server(server: Path) -> Iterator[S3]:
    """The server on an empty folder; the environment of this process points to it for the time of the block."""
    folder, port = Path(tempfile.mkdtemp(prefix="versitygw-")), free_port()
    (folder / "objects").mkdir()
    environment = {**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
    command = [server, "--port", f"127.0.0.1:{port}", "posix", folder / "objects"]
    running = Server("versitygw", command, port, folder, environment)
    try:
        with reached(S3(f"http://127.0.0.1:{port}")) as s3:
            yield s3
    finally:
        running.stop()


def _version(go: str) -> tuple[int, ...]:
    said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))
