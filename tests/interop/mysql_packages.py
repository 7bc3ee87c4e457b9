"""Fetches a MySQL server with all its libraries into `.peer/`, since the release of Debian that tests run on has only MariaDB.

The packages are the newest of Debian's unstable release, so the version is not pinned: only tests marked `deep` use it.
The server runs with the loader and the C library of its packages, and nothing is installed.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

from tests.interop.peer_env import PEER, SetUpError, fetched

_DEBIAN = "http://deb.debian.org/debian"
_INDEX = f"{_DEBIAN}/dists/sid/main/binary-amd64/Packages.xz"
_SERVER = "mysql-server-core"
_FOLDER = PEER / "mysql"


def ensure_mysql() -> list[str]:
    """The command that starts a server, without its options. Raises SetUpError if the packages cannot be fetched."""
    with fetched(_FOLDER) as begun:
        if begun is not None:
            _fetch(begun)
    libraries = _FOLDER / "usr/lib/x86_64-linux-gnu"
    share = _FOLDER / "usr/share/mysql"
    return [
        str(libraries / "ld-linux-x86-64.so.2"),
        "--library-path",
        f"{libraries}:{_FOLDER / 'usr/lib/mysql/private'}",
        str(_FOLDER / "usr/sbin/mysqld"),
        "--no-defaults",
        f"--lc-messages-dir={share}",
        f"--character-sets-dir={share / 'charsets'}",
        f"--plugin-dir={_FOLDER / 'usr/lib/mysql/plugin'}",
    ]


def _fetch(folder: Path) -> None:
    """Unpack the server and what it depends on, 50 MB, into `folder`."""
    folder.mkdir(parents=True)
    packages = _packages(lzma.decompress(_read(_INDEX)).decode())
    if _SERVER not in packages:
        raise SetUpError(f"{_INDEX} has no package {_SERVER}", "look for a newer name of the package")
    for package in _with_dependencies(packages):
        body = _read(f"{_DEBIAN}/{package['Filename']}")
        if hashlib.sha256(body).hexdigest() != package["SHA256"]:
            raise SetUpError(f"{package['Filename']} differs from its checksum", "run the same again")
        archive = folder / "package.deb"
        archive.write_bytes(body)
        subprocess.run(["dpkg-deb", "-x", str(archive), str(folder)], check=True)
        archive.unlink()


def _packages(index: str) -> dict[str, dict[str, str]]:
    """The packages of an index by the names that they have or provide."""
    packages: dict[str, dict[str, str]] = {}
    for paragraph in index.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", paragraph, re.MULTILINE))
        if not fields:
            continue
        packages[fields["Package"]] = fields
        for name in _names(fields.get("Provides", "")):
            packages.setdefault(name, fields)
    return packages


def _with_dependencies(packages: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    """The server and all packages with libraries that it needs, each once."""
    left, chosen = [_SERVER], dict[str, dict[str, str]]()
    while left:
        package = packages.get(left.pop())
        if package is None or package["Package"] in chosen:
            continue
        chosen[package["Package"]] = package
        left += _names(f"{package.get('Depends', '')},{package.get('Pre-Depends', '')}")
    return list(chosen.values())


def _names(relation: str) -> Iterator[str]:
    """The first alternative of each part of a relation between packages, if it is a library or the C library's parts."""
    for part in relation.split(","):
        name = re.split(r"[ (:|]", part.strip())[0]
        if name.startswith("lib") or name in _NEEDED:
            yield name


_NEEDED = {_SERVER, "openssl-provider-legacy"}


def _read(address: str) -> bytes:
    try:
        with urlopen(address, timeout=120) as response:
            return bytes(response.read())
    except OSError as error:
        raise SetUpError(f"{address}: {error}", "check the network, then run the same again") from error
