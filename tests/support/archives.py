"""The archives of the library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_wheel(folder: Path, umask: int = 0o022, url: str = "") -> Path:
    """Build the library's wheel into the folder, as that of a repository at `url`."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, umask=umask, env={**os.environ, "PROJECT_URL": url}
    )
    (wheel,) = folder.glob("*.whl")
    return wheel
