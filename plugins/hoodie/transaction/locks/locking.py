"""What was said of the table's lock, as one value (`hoodie.write.lock.*`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from hoodie.config.key import Options
from hoodie.config.lock_keys import FILE_SYSTEM, FILE_SYSTEM_PATH, PROVIDER, RETRY_MS, WAIT_MS


@dataclass(frozen=True)
class Locking:
    """By what writers exclude each other (Hudi's name of the provider, without its package), and how long they wait, in ms.

    `folder` is where the caller believes the lock file to be.
    """

    provider: str = FILE_SYSTEM
    wait_ms: int = 60_000
    retry_ms: int = 1000
    folder: str | None = None

    @classmethod
    def of(cls, options: Options) -> Self:
        """From checked options, `LOCK_KEYS` among them."""
        return cls(options[PROVIDER], options[WAIT_MS], options[RETRY_MS], options.get(FILE_SYSTEM_PATH))

    def waiting(self, at_least_ms: int) -> Self:
        """The same for work that must not be thrown away because another holds the lock for long."""
        return replace(self, wait_ms=max(at_least_ms, self.wait_ms))
