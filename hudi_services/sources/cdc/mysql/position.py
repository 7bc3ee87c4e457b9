"""Places in the binlog of a server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

from hoodie.errors import ConfigError

_TEXT = re.compile(r"(?P<file>[^:/\s]+):(?P<offset>\d+)")


@total_ordering
@dataclass(frozen=True)
class LogPosition:
    """A file of the log, and the byte of it at which the next event begins. Files are in order of their numbers: 1000000 comes
    after 999999."""

    file: str
    offset: int

    def __lt__(self, other: LogPosition) -> bool:
        return (len(self.file), self.file, self.offset) < (len(other.file), other.file, other.offset)

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


def log_position(text: str) -> LogPosition:
    """Read `FILE:OFFSET`. Raises ConfigError for any other text."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"{text!r:.100} is no position of a binlog",
            fix="write FILE:OFFSET, such as mysql-bin.000001:4 (SHOW MASTER STATUS)",
        )
    return LogPosition(match["file"], int(match["offset"]))
