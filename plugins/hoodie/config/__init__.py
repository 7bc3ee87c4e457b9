"""Options and table properties."""

from __future__ import annotations

from hoodie.config.bootstrap_keys import BOOTSTRAP_KEYS
from hoodie.config.clean_keys import CLEAN_KEYS
from hoodie.config.compaction_keys import COMPACTION_KEYS
from hoodie.config.own import given_options, laid_over, own_options, select_keys
from hoodie.config.sync_keys import SYNC_KEYS
from hoodie.config.table_keys import CREATE_KEYS, KEYGEN_KEYS
from hoodie.config.write_keys import WRITE_KEYS

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
