"""Options and table properties."""

from __future__ import annotations

from hoodie.config.keys.bootstrap import BOOTSTRAP_KEYS
from hoodie.config.keys.clean import CLEAN_KEYS
from hoodie.config.keys.compaction import COMPACTION_KEYS
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.config.keys.table import CREATE_KEYS, KEYGEN_KEYS
from hoodie.config.keys.write import WRITE_KEYS
from hoodie.config.service_options import given_options, laid_over, own_options, select_keys

__all__ = [
    "BOOTSTRAP_KEYS",
    "CLEAN_KEYS",
    "COMPACTION_KEYS",
    "CREATE_KEYS",
    "KEYGEN_KEYS",
    "SYNC_KEYS",
    "WRITE_KEYS",
    "given_options",
    "laid_over",
    "own_options",
    "select_keys",
]
