"""The S3 server of quick tests, moto's, and what clients in this process and its children need to reach it."""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.servers import Server, free_port

KEY, SECRET = "tester", "tester-secret"


class S3:
    """A running server. `environment` makes clients reach it."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.environment = {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def bucket(self) -> str:
        """The URL of a new bucket."""
        name = f"b{uuid.uuid4().hex}"
        self.files().mkdir(name)
        return f"s3://{name}"

    def files(self):
        """The objects as another client sees them."""
        import s3fs

        return s3fs.S3FileSystem(endpoint_url=self.endpoint, key=KEY, secret=SECRET, use_listings_cache=False)


@contextmanager
def moto_server() -> Iterator[S3]:
    """moto's server; the environment of this process points to it for the time of the block."""
    folder, port = Path(tempfile.mkdtemp(prefix="moto-")), free_port()
    program = Path(sys.executable).with_name("moto_server")
    server = Server("moto", [sys.executable, program, "-H", "127.0.0.1", "-p", port], port, folder)
    try:
        with reached(S3(f"http://127.0.0.1:{port}")) as s3:
            yield s3
    finally:
        server.stop()


@contextmanager
def reached(s3: S3) -> Iterator[S3]:
    """For the time of the block, S3 is this server."""
    import s3fs

    from hoodie.storage.s3_client import S3Client

    before = {name: os.environ.get(name) for name in s3.environment}
    os.environ.update(s3.environment)
    try:
        yield s3
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        for client in (S3Client, s3fs.S3FileSystem):  # they keep the endpoint
            client.clear_instance_cache()
