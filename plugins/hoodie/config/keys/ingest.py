"""Options of HoodieStreamer that the ingestion obeys."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, text

SOURCE_ROOT = ConfigKey[str](
    "hoodie.streamer.source.dfs.root",
    text,
    None,
    "folder whose files are loaded, as --source-path says it",
    ("hoodie.deltastreamer.source.dfs.root",),
)

INGEST_KEYS: tuple[ConfigKey[Any], ...] = (SOURCE_ROOT,)
