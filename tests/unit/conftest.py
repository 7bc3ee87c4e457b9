"""What all tests of the services share."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def without_flushing(monkeypatch):
    """No test here pulls the plug of the machine: files need not be forced to a disk that others use too."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
