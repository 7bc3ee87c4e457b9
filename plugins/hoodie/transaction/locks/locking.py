"""The lock options of a table as one value (`hoodie.write.lock.*`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from hoodie.config.key import Options
from hoodie.config.keys.lock import (
    FILE_SYSTEM_PATH,
    PROVIDER,
    RENEWAL_S,
    RETRY_MS,
    VALIDITY_S,
    WAIT_MS,
)
from hoodie.errors import ConfigError

_RENEWALS = 10  # within the validity


@dataclass(frozen=True)
class Locking:
    """By what writers exclude each other (Hudi's name of the provider, without its package), and how long they wait, in ms.

    `folder` is where the caller believes the lock file to be. A storage-based lock is valid for `validity_s` seconds and renewed
    every `renewal_s`. `options` are those of a provider that is a server.
    """

    provider: str
    wait_ms: int
    retry_ms: int
    folder: str | None
    validity_s: int
    renewal_s: int
    options: Options

    @classmethod
    def of(cls, options: Options) -> Self:
        """From checked options, `LOCK_KEYS` among them. Raises ConfigError for a lock that runs out before it is renewed."""
        validity, renewal = options[VALIDITY_S], options[RENEWAL_S]
        if validity < _RENEWALS * renewal:
            raise ConfigError(
                f"{VALIDITY_S.name} is too short",
                found=f"{validity} s, renewed every {renewal} s ({RENEWAL_S.name})",
                fix=f"give at least {_RENEWALS * renewal} s, as Hudi asks for, or renew it more often",
            )
        return cls(
            options[PROVIDER],
            options[WAIT_MS],
            options[RETRY_MS],
            options.get(FILE_SYSTEM_PATH),
            validity,
            renewal,
            options,
        )

    def waiting_at_least(self, at_least_ms: int) -> Self:
        """The same for work that must not be thrown away because another holds the lock for long."""
        return replace(self, wait_ms=max(at_least_ms, self.wait_ms))
