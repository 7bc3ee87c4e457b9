"""Peers that cannot be set up or do not answer end with a message that says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop import peer, peer_env


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without programs and peers. It gives the folder of its programs."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(peer_env, "PEER", tmp_path)
    monkeypatch.setattr(peer_env, "PYTHON", tmp_path / "venv" / "bin" / "python")
    monkeypatch.setattr(peer_env, "BUNDLES", {"1.2.0": tmp_path / "jars" / "hudi.jar"})
    monkeypatch.setattr(peer_env, "UV", programs / "uv")
    return programs


def program(file: Path, script: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_no_java(bare: Path) -> None:
    with pytest.raises(peer_env.SetUpError, match=r"no java, which .*\nTo do: install openjdk-17-jdk-headless"):
        peer_env.ensure()


def test_no_network(bare: Path) -> None:
    program(bare / "java", "exit 0")
    program(bare / "uv", "exit 3")
    with pytest.raises(peer_env.SetUpError, match=r"uv ended with exit code 3.*\nTo do: check the network"):
        peer_env.ensure()


def test_no_maven(bare: Path, tmp_path: Path) -> None:
    program(bare / "java", "exit 0")
    program(bare / "uv", f"/bin/mkdir -p {tmp_path}/venv")
    with pytest.raises(peer_env.SetUpError, match=r"no mvn, .*\nTo do: install mvn"):
        peer_env.ensure()


def test_make_peer_prints_one_message(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.interop.peer_env"],
        env={"PATH": str(tmp_path)},
        cwd=peer_env.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("set-up of the peers failed: no java")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("script", "message"), [("exec sleep 600", "no answer in 1 seconds"), ("echo bad >&2", "ended: bad")]
)
def test_a_peer_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str) -> None:
    program(tmp_path / "python", script)
    monkeypatch.setattr(peer, "PYTHON", tmp_path / "python")
    monkeypatch.setattr(peer, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(peer.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    with pytest.raises(RuntimeError, match=message):
        peer.HudiPeer("1.2.0")
