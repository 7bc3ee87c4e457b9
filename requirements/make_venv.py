"""Makes `.venv` from the hashed lock file. Standard library only, and quick when nothing changed.

`make` runs it before every target; by hand: `python3 requirements/make_venv.py`. It looks for Python 3.11 or newer, makes
`.venv`, installs the hash-pinned uv of `requirements/installer.lock`, and lets uv make the environment equal to
`requirements/dev.lock`. A stamp in `.venv` remembers what was installed.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time

OLDEST = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "installed.sha256")
INSTALLER_LOCK = os.path.join(ROOT, "requirements", "installer.lock")
LOCK = os.path.join(ROOT, "requirements", "dev.lock")


def main():
    if sys.version_info < OLDEST:
        _run_with_newer_python()
    # Two makes at once must not install into one folder at the same time.
    with open(os.path.abspath(__file__), "rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if _installed() != _wanted():
            _install()


def _run_with_newer_python():
    for minor in range(20, OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(found, [found, os.path.abspath(__file__)])
    _stop(
        f"Python 3.11 or newer is needed; this is {sys.version.split()[0]} ({sys.executable})",
        "install one, or name it: make PYTHON=/path/to/python3.11",
    )


def _wanted():
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for path in (INSTALLER_LOCK, LOCK):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def _installed():
    try:
        with open(STAMP) as file:
            return file.read()
    except OSError:
        return None


def _install():
    started = time.monotonic()
    print("setting up .venv (about a minute, 1.2 GB) ...", flush=True)
    if os.path.exists(STAMP):
        os.remove(STAMP)
    if not _usable():
        _make_venv()
    _run(
        "uv could not be installed",
        [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "-r", INSTALLER_LOCK],
    )
    uv = os.path.join(VENV, "bin", "uv")
    _run(
        "the packages of requirements/dev.lock could not be installed",
        [uv, "pip", "sync", "-q", "--compile-bytecode", "--python", PYTHON, "--require-hashes", LOCK],
    )
    with open(STAMP, "w") as file:
        file.write(_wanted())
    print(f".venv is ready after {time.monotonic() - started:.0f} s", flush=True)


def _usable():
    """Whether there is a virtual environment of this Python version with pip in it."""
    check = f"import pip, sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])!r})"
    return os.path.exists(PYTHON) and subprocess.call([PYTHON, "-c", check], stderr=subprocess.DEVNULL) == 0


def _make_venv():
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError as error:
        _stop(
            f"this Python ({sys.executable}) cannot make virtual environments: no module {error.name!r}",
            "install it; on Debian and Ubuntu: apt-get install python3-venv",
        )
    venv.create(VENV, clear=True, with_pip=True)


def _run(failure, command):
    status = subprocess.call(command, cwd=ROOT)
    if status != 0:
        _stop(
            f"{failure} (exit code {status}); its messages are above",
            "check the network and the disk, then run the same again: it goes on where it stopped",
        )


def _stop(what, fix):
    sys.exit(f"set-up failed: {what}.\nTo do: {fix}.")


if __name__ == "__main__":
    main()
