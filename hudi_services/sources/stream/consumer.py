"""The named consumer by which the source of a stream keeps what the stream has not read."""

from __future__ import annotations

import logging

from hoodie.consumer import LATEST
from hoodie.errors import HoodieError
from hoodie.model.time import Time
from hoodie.table import HoodieTable
from hudi_services.sources.stream.options import consumer_of

_log = logging.getLogger(__name__)


class SourceHold:
    """A consumer of the source, named after the target. The position of the stream is in the commits of the target: this one is
    behind it after a kill, and then keeps more.

    A source that takes no consumer, as a storage without conditional puts or without the right to write, keeps nothing: that
    is logged, and a stream that is too late for its cleans ends with ChangeRangeError.
    """

    def __init__(self, source: str, target: str) -> None:
        """`source` is a base path, `target` the name of a table."""
        self._source = source
        self._name = consumer_of(target)
        self._warned = False

    def begin(self) -> None:
        """Keep the changes from now on, unless earlier ones are kept."""
        self._put(None)

    def advance(self, position: Time) -> None:
        """Keep the changes after the position."""
        self._put(position)

    def _put(self, position: Time | None) -> None:
        try:
            consumer = HoodieTable.open(self._source).consumer(self._name)
            if position is not None:
                consumer.reset(position)
            elif consumer.position is None:
                consumer.reset(LATEST)
        except (HoodieError, OSError) as error:
            if not self._warned:
                _log.warning("The source %s keeps nothing for the stream: %s", self._source, error)
            self._warned = True
