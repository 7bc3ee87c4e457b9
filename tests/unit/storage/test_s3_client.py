"""Endpoints that are not a store: one that never answers, one without the bucket."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError, StorageError
from hoodie.storage import S3Storage, s3_client

KEYS = {"key": "a", "secret": "b", "skip_instance_cache": True}


class NotFound(BaseHTTPRequestHandler):
    """An endpoint that knows no path."""

    def do_GET(self):
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815 - the name that the server calls

    def log_message(self, *_arguments):
        """Say nothing."""


@contextmanager
def not_found():
    server = ThreadingHTTPServer(("127.0.0.1", 0), NotFound)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_an_endpoint_that_never_answers_is_named_soon(monkeypatch):
    monkeypatch.setattr(s3_client, "_FIRST_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:  # the kernel accepts, and no process reads
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        storage, begin = S3Storage("s3://lake/t", {"endpoint_url": endpoint, **KEYS}), time.monotonic()
        for _ in range(3):
            with pytest.raises(StorageError, match=f"at {endpoint} does not answer.*AWS_ENDPOINT_URL"):
                storage.read("f")
    assert time.monotonic() - begin < 4


def test_a_bucket_that_is_not_there_is_no_table_that_will_be_made():
    with not_found() as endpoint:
        storage = S3Storage("s3://lake/t", {"endpoint_url": endpoint, **KEYS})
        with pytest.raises(ConfigError, match=f"There is no bucket 'lake' at {endpoint}"):
            HoodieTable.open(storage)


def test_an_address_without_its_scheme_is_a_setting_to_correct():
    storage = S3Storage("s3://lake/t", {"endpoint_url": "minio:9000", **KEYS})
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"Invalid endpoint: minio:9000.*AWS_ENDPOINT_URL with its scheme"):
            storage.read("f")
