"""Scripts that the docs site serves itself: files of npm packages with pinned hashes. Readers then need no network."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mkdocs.exceptions import PluginError

CACHE = Path(__file__).resolve().parents[1] / "build" / "npm"
_ONE_TRY = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000")


@dataclass(frozen=True)
class Script:
    """A file of an npm package. `integrity` is npm's hash of the package, and `file` the path inside it."""

    package: str
    version: str
    integrity: str
    file: str

    @property
    def site_path(self) -> str:
        """The path of the script on the site."""
        return f"javascripts/{self.package}.js"

    @property
    def cached(self) -> Path:
        """The file of an earlier build. Its name has the hash, so that another version is another file."""
        return CACHE / f"{self.package}-{hashlib.sha256(self.integrity.encode()).hexdigest()[:12]}.js"


MERMAID = Script(
    "mermaid",
    "11.17.2",
    "sha512-V6K3C8EBdEsPFZXSKMJe6ppQOENxuHARr9GvHX4hh47lAbhMRD9qf4oEK7LoaRQxULMa80/qt5gHO73aCleBBg==",
    "package/dist/mermaid.min.js",
)
# Search in files that are opened without a server.
IFRAME_WORKER = Script(
    "iframe-worker",
    "1.0.4",
    "sha512-roeaaI+Lg1LJNfgpCjoRe/+WzEjy9+Z08LoEvu85MCPbBjwm+qXz8Ag5U05lHa6V1CysZyGzE0SOkAtSUA5q7Q==",
    "package/shim/index.js",
)


def script_file(script: Script) -> Path:
    """The file on this machine, fetched by npm the first time. Raises PluginError, which ends the build."""
    if not script.cached.exists():
        script.cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=script.cached.parent) as folder:
            packed = _packed(script, Path(folder))
            content = checked_file(script, packed)
            begun = Path(folder) / "script.js"
            begun.write_bytes(content)
            os.replace(begun, script.cached)
    return script.cached


def checked_file(script: Script, packed: Path) -> bytes:
    """The script inside its package. Raises PluginError if the package has another hash than the pinned one."""
    content = packed.read_bytes()
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    if integrity != script.integrity:
        raise _fault(script, f"a package with the hash {integrity}", "compare it with docs/site_scripts.py")
    with tarfile.open(packed) as package:
        file = package.extractfile(script.file)
        assert file is not None, f"{script.file} is a file of the pinned package"
        return file.read()


def _packed(script: Script, folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise _fault(script, "no npm on the PATH", "install npm, then run `make docs` again")
    command = [npm, "pack", f"{script.package}@{script.version}", "--loglevel=error", *_ONE_TRY]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    packed = next(iter(folder.glob("*.tgz")), None)
    if done.returncode or packed is None:
        said = (done.stderr or done.stdout).strip().splitlines()
        found = f"npm ended with {done.returncode}: {said[0] if said else 'no message'}"
        raise _fault(script, found, "run `make docs` once with a network. Later builds need none")
    return packed


def _fault(script: Script, found: str, fix: str) -> PluginError:
    return PluginError(f"The docs site needs {script.package} {script.version} of npm\nFound: {found}\nTo do: {fix}")
