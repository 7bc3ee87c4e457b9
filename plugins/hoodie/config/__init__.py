"""Options and table properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hoodie.config.bootstrap_keys import BOOTSTRAP_KEYS
from hoodie.config.clean_keys import CLEAN_KEYS
from hoodie.config.compaction_keys import COMPACTION_KEYS
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.sync_keys import SYNC_KEYS
from hoodie.config.table_keys import CREATE_KEYS, KEYGEN_KEYS
from hoodie.config.write_keys import WRITE_KEYS


def check_keys(options: Mapping[str, object]) -> None:
    """Check options that several services share, such as a properties file. Raises ConfigError (see `resolve`)."""
    resolve(
        options, dict.fromkeys([*CREATE_KEYS, *WRITE_KEYS, *CLEAN_KEYS, *COMPACTION_KEYS, *SYNC_KEYS, *BOOTSTRAP_KEYS])
    )


def select_keys(options: Mapping[str, object], keys: Iterable[ConfigKey[Any]]) -> dict[str, object]:
    """The part of checked options that is meant for one service."""
    names = {name for key in keys for name in key.names}
    return {name: value for name, value in options.items() if name in names}


__all__ = [
    "BOOTSTRAP_KEYS",
    "CLEAN_KEYS",
    "COMPACTION_KEYS",
    "CREATE_KEYS",
    "KEYGEN_KEYS",
    "SYNC_KEYS",
    "WRITE_KEYS",
    "check_keys",
    "select_keys",
]
