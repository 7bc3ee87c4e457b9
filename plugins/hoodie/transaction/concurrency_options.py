"""How a change of a table gets on with writers that do not hold the table's lock while they write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from hoodie.config.key import Options
from hoodie.config.keys.concurrency import (
    EAGER,
    FAILED_WRITES,
    HEARTBEAT_INTERVAL_MS,
    HEARTBEAT_MISSES,
    MODE,
    NON_BLOCKING,
    OPTIMISTIC,
)
from hoodie.errors import ConfigError


@dataclass(frozen=True)
class ConcurrencyOptions:
    """The concurrency options (`hoodie.write.concurrency.mode` and others) as one value. Without `optimistic` there may be no
    other writer.

    Non-blocking concurrency control is optimistic, too: it only finds fewer conflicts (see `Change.appends`).
    """

    optimistic: bool = False
    interval_ms: int = 60_000
    misses: int = 2

    @classmethod
    def of(cls, options: Options) -> Self:
        """From checked options, `SHARING_KEYS` among them. Raises ConfigError for EAGER where several writers are at work."""
        optimistic = options[MODE] in (OPTIMISTIC, NON_BLOCKING)
        if optimistic and options.is_set(FAILED_WRITES) and options[FAILED_WRITES] == EAGER:
            raise ConfigError(
                f"{MODE.name}={options[MODE].lower()} excludes {FAILED_WRITES.name}={EAGER}",
                found="a writer that takes every pending write for a failed one would roll back the writes of others",
                fix=f"leave {FAILED_WRITES.name} out, or set LAZY",
            )
        return cls(optimistic, options[HEARTBEAT_INTERVAL_MS], options[HEARTBEAT_MISSES])

    @property
    def expiry_ms(self) -> int:
        """Age in ms from which on a heartbeat counts as that of a dead writer."""
        return self.interval_ms * self.misses
