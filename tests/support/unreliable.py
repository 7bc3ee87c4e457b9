"""A proxy between a client of S3 and its server, which loses or makes up answers."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

# (method, path with query) -> "" to pass it on, "lose" to pass it on and hang up, "replace" to pass it on without its condition,
# or the S3 error code of the answer
Rule = Callable[[str, str], str]
STATUS = {"ConditionalRequestConflict": 409, "PreconditionFailed": 412}


@contextmanager
def unreliable(endpoint: str, rule: Rule) -> Iterator[str]:
    """The address of a server in front of `endpoint`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            verdict = rule(self.command, self.path)
            if verdict == "replace":
                del self.headers["If-None-Match"], self.headers["If-Match"]
            if verdict in ("", "lose", "replace"):
                server = http.client.HTTPConnection(urlsplit(endpoint).netloc)
                server.request(self.command, self.path, body, dict(self.headers))
                answer = server.getresponse()
                status, headers, content = answer.status, answer.getheaders(), answer.read()
                server.close()
            else:
                status, headers = STATUS[verdict], [("Content-Type", "application/xml")]
                content = f"<Error><Code>{verdict}</Code><Message>said so</Message></Error>".encode()
            self.close_connection = True
            if verdict == "lose":
                return
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            length = content if self.command != "HEAD" else dict(headers).get("Content-Length", "0")
            self.send_header("Content-Length", length if isinstance(length, str) else str(len(length)))
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def do_GET(self) -> None:
            self._handle()

        def do_PUT(self) -> None:
            self._handle()

        def do_POST(self) -> None:
            self._handle()

        def do_HEAD(self) -> None:
            self._handle()

        def do_DELETE(self) -> None:
            self._handle()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
