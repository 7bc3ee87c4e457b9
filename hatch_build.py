"""Project URLs and the README in the metadata of an archive.

The address of the repository is that of the variable PROJECT_URL or else of the Git remote `origin`: it is not in these files, so
that a fork names its own. Without one an archive has no URLs, and the README's links stay relative.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"\]\((?!https?://|#|mailto:)([^)]+)\)")
_SSH = re.compile(r"^(?:ssh://)?git@([^:/]+)[:/](.+)$")


class ProjectMetadata(MetadataHookInterface):
    """Fills `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling."""
        root, url = Path(self.root), project_url(Path(self.root))
        readme = (root / "README.md").read_text(encoding="utf-8")
        if url is not None:
            metadata["urls"] = urls(url)
            readme = absolute(readme, f"{url}/blob/v{_version(root)}")
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def project_url(root: Path) -> str | None:
    """The web address of the repository; None where none is known."""
    given = os.environ.get("PROJECT_URL") or _origin(root)
    if not given:
        return None
    web = _SSH.sub(r"https://\1/\2", given).removesuffix("/").removesuffix(".git")
    return web if web.startswith(("http://", "https://")) else None


def urls(url: str) -> dict[str, str]:
    """Addresses that package indexes show."""
    return {
        "Homepage": url,
        "Documentation": f"{url}/blob/main/docs/index.md",
        "Changelog": f"{url}/blob/main/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }


def absolute(text: str, base: str) -> str:
    """The Markdown text with links that work away from the repository."""
    return _RELATIVE.sub(lambda match: f"]({base}/{match[1]})", text)


def _origin(root: Path) -> str:
    command = ["git", "-C", str(root), "remote", "get-url", "origin"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _version(root: Path) -> str:
    text = (root / "plugins" / "hoodie" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'__version__ = "([^"]+)"', text)
    return match[1] if match is not None else "0"
