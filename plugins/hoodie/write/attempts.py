"""A write that lost against another is planned again on what that one has left, as often as its options say."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from hoodie.config.key import Options
from hoodie.config.keys.concurrency import CONFLICT_RETRIES
from hoodie.errors import EarlyConflictError, WriteConflictError
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.early_conflicts import wait_for_others
from hoodie.transaction.locks import Locking
from hoodie.view.access import TableAccess

_log = logging.getLogger(__name__)

R = TypeVar("R")


def attempts(access: TableAccess, options: Options, attempt: Callable[[], R], *, readable_again: bool) -> R:
    """The result of `attempt`, tried again after conflicts (`hoodie.write.num.retries.on.conflict.failures`).

    Raises what it raises, WriteConflictError when it lost too often, or when its rows are not `readable_again`.
    """
    retries_left = options[CONFLICT_RETRIES]
    while True:
        try:
            return attempt()
        except WriteConflictError as error:
            if not (retries_left and error.retryable):
                raise
            if not readable_again:
                raise WriteConflictError(
                    error.what,
                    found=error.found,
                    fix=f"{error.fix}; not by itself here, as its rows can be read only once",
                ) from error
            retries_left -= 1
            _log.warning("Planned again on the current table, up to %d more times: %s", retries_left, error)
            if isinstance(error, EarlyConflictError):
                wait_for_others(access.storage, access.clock, ConcurrencyOptions.of(options), Locking.of(options))
