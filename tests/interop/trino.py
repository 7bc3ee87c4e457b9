"""A Trino server of one node, with its Hudi connector on a Hive metastore."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from tempfile import mkdtemp

from tests.interop.hive_services import START_FAST, JavaService
from tests.interop.peer_env import TRINO
from tests.support.servers import free_port
from tests.support.waiting import until


class Trino:
    """The server, and its queries."""

    def __init__(self, metastore: JavaService) -> None:
        folder, port = Path(mkdtemp(prefix="trino-")), free_port()
        self._url = f"http://127.0.0.1:{port}"
        self._service = JavaService("trino", _command(folder, port, metastore.port), port, folder)
        until(lambda: not self._is_starting(), lambda: "Trino has not started", pause=0.2)

    def _is_starting(self) -> bool:
        try:
            return bool(self._call("/v1/info")["starting"])
        except OSError:  # the port is open before the server answers
            return True

    def query(self, sql: str) -> list[tuple[object, ...]]:
        """The rows, sorted. An error of the query is raised."""
        found: list[tuple[object, ...]] = []
        answer = self._call("/v1/statement", sql.encode())
        while True:
            assert "error" not in answer, answer["error"]["message"]
            found.extend(map(tuple, answer.get("data", ())))
            if "nextUri" not in answer:
                return sorted(found)
            answer = self._call(answer["nextUri"].removeprefix(self._url))

    def stop(self) -> None:
        self._service.stop()

    def _call(self, path: str, body: bytes | None = None) -> dict:
        request = urllib.request.Request(self._url + path, body, {"X-Trino-User": "tests"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def _command(folder: Path, port: int, metastore_port: int) -> list[object]:
    told = {
        "config.properties": {
            "coordinator": "true",
            "node-scheduler.include-coordinator": "true",
            "http-server.http.port": port,
            "discovery.uri": f"http://127.0.0.1:{port}",
            "query.max-memory": "400MB",
            "query.max-memory-per-node": "300MB",
            "memory.heap-headroom-per-node": "200MB",
        },
        "log.properties": {"root": "WARN"},
        "catalog/hudi.properties": {
            "connector.name": "hudi",
            "hive.metastore": "thrift",
            "hive.metastore.uri": f"thrift://127.0.0.1:{metastore_port}",
            "fs.native-local.enabled": "true",
            "local.location": "/",
        },
    }
    for name, lines in told.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    (folder / "data").mkdir()
    settings = {
        "config": folder / "config.properties",
        "log.levels-file": folder / "log.properties",
        "node.environment": "tests",
        "node.id": "tests",
        "node.data-dir": folder / "data",
        "plugin.dir": TRINO / "plugin",
        "catalog.config-dir": folder / "catalog",
        "jdk.attach.allowAttachSelf": "true",
        "jdk.nio.maxCachedBufferSize": 2_000_000,
    }
    java = TRINO / "java" / "arcadedb_embedded" / "jre" / "bin" / "java"
    flags = ["-Xmx1200m", *START_FAST, "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"]
    flags += ["--sun-misc-unsafe-memory-access=allow", *(f"-D{key}={value}" for key, value in settings.items())]
    return [java, *flags, "-cp", f"{TRINO}/lib/*:{TRINO}/launcher", "StartTrino"]
