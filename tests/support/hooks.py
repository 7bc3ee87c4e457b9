"""A server that takes what alerts send."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Server:
    """Answers with `statuses`, the last of them for ever, after `slow` seconds or when it is `released`. `got` are the bodies."""

    address: str = ""
    statuses: list[int] = field(default_factory=lambda: [200])
    slow: float = 0.0
    released: threading.Event = field(default_factory=threading.Event)
    got: list[Any] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)


@contextmanager
def serving() -> Iterator[Server]:
    made = Server()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            made.headers.append(dict(self.headers))
            made.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            made.released.wait(made.slow)
            self.send_response(made.statuses.pop(0) if len(made.statuses) > 1 else made.statuses[0])
            self.send_header("Location", f"{made.address}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    made.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        made.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def happenings(server: Server) -> list[str]:
    """The events of all messages, in their order."""
    return [each["happening"] for body in server.got for each in body["messages"]]
