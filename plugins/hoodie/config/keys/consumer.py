"""Options of named consumers. They are ours: Hudi has none."""

from __future__ import annotations

from hoodie.config.key import ConfigKey, integer

RETENTION_HOURS = ConfigKey[int](
    "hoodie.consumer.retention.hours",
    integer(0),
    168,
    "hours for which cleaning and archiving keep a commit that a named consumer has not read; 0: they keep nothing for consumers",
)
