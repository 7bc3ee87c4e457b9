"""Histories in folders of their own."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from hudi_services.entry.table import History
from hudi_services.operations.history import store


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of this test wait nowhere else, and are delivered at once."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(store, "_APART", timedelta(0))


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(path=str(tmp_path / "history"))
