"""Crashes are injected between storage calls; the disk's own cache plays no part."""

from tests.unit.conftest import without_flushing

__all__ = ["without_flushing"]
