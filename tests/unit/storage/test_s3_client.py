"""Endpoints that are not a store: one that never answers, one without the bucket."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hoodie import HoodieTable
from hoodie.errors import AccessDeniedError, ConfigError, StorageError
from hoodie.storage import S3Storage, s3_client
from hoodie.storage.rights import access_denied
from hudi_services.operations.advice.obstacle import unreadable_by

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


class Refusing(BaseHTTPRequestHandler):
    """A store that does not take the credentials."""

    code = ""

    def do_GET(self):
        body = f"<Error><Code>{self.code}</Code><Message>No.</Message></Error>".encode()
        self.send_response(403 if self.code != "ExpiredToken" else 400)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.send_response(403 if self.code != "ExpiredToken" else 400)  # a HEAD has no body
        self.end_headers()

    do_PUT = do_GET  # noqa: N815 - the name that the server calls

    def log_message(self, *_arguments):
        """Say nothing."""


@contextmanager
def not_found(handler=NotFound):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
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


@pytest.mark.parametrize("code", ["InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"])
@pytest.mark.parametrize("place", ["the storage options", "the environment", "the profile lake"])
def test_credentials_that_are_refused_are_no_missing_right(code, place, monkeypatch, tmp_path):
    keys = {"key": "AKIA1234", "secret": "b"} if place == "the storage options" else {}
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    if place == "the environment":
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA1234")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    if place == "the profile lake":
        (tmp_path / "keys").write_text("[lake]\naws_access_key_id=AKIA1234\naws_secret_access_key=b\n")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
        monkeypatch.setenv("AWS_PROFILE", "lake")
    with not_found(type("Handler", (Refusing,), {"code": code})) as endpoint:
        storage = S3Storage("s3://lake/t", {"endpoint_url": endpoint, "skip_instance_cache": True, **keys})
        for attempt in (lambda: HoodieTable.open(storage), lambda: storage.create("x", b"1")):
            with pytest.raises(
                AccessDeniedError, match=f"refuses the credentials for the bucket lake.*{code} .*'1234', from {place}"
            ) as caught:
                attempt()
            again = access_denied("loading x", caught.value, "s3://lake/t/x")
            assert again is caught.value, "a caller does not make a missing right of it"
    assert unreadable_by(caught.value, "s3://lake/t").title.startswith("The storage at ")
