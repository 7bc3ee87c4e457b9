"""Features of table versions (format notes, section 0). The timeline's differences are in its layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Features:
    """Features that the readers and writers of a table version support."""

    logs_of_1_x: bool
    """True if rows may come into logs in ways that only Hudi 1.x reads."""
    log_compaction: bool
    """True if merged log blocks are read right: Hudi 0.x applies them twice."""
    typed_folders: bool
    """True if the value of a folder of a bootstrap's source has the type of its column: Hudi 0.15 takes it for text in merges."""
    bootstrap_index: Mapping[str, str]
    """The property that says how the bootstrap index is stored."""


_6 = Features(
    logs_of_1_x=False,
    log_compaction=False,
    typed_folders=False,
    bootstrap_index=MappingProxyType(
        {"hoodie.bootstrap.index.class": "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex"}
    ),
)
_8 = Features(
    logs_of_1_x=True,
    log_compaction=True,
    typed_folders=True,
    bootstrap_index=MappingProxyType({"hoodie.bootstrap.index.type": "HFILE"}),
)
FEATURES: Mapping[int, Features] = MappingProxyType({6: _6, 8: _8, 9: _8})
"""By table version: all that are supported."""
