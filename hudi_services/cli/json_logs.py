"""The log of a command as lines of JSON on standard error, for collectors that search by field: with HUDI_LOG_FORMAT=json."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TextIO

from hoodie.errors import ConfigError

LOG_FORMAT = "HUDI_LOG_FORMAT"
TABLE, SERVICE, INSTANT = "hudi_table", "hudi_service", "hudi_instant"
"""Fields, named as in the logs of Airflow's tasks."""
_LOGGERS = ("hoodie", "hudi_services")

_log = logging.getLogger(__name__)


@contextmanager
def logs_as_json(environ: Mapping[str, str]) -> Iterator[bool]:
    """Log as JSON for the block, where the variable asks for it: warnings of all, and all logs of the library and the
    services. Yields true where it does. Raises ConfigError for another format."""
    log_format = environ.get(LOG_FORMAT, "")
    if log_format not in ("", "json"):
        raise ConfigError(
            f"${LOG_FORMAT} names no format of logs", found=log_format, fix="set it to json, or not at all"
        )
    if not log_format:
        yield False
        return
    handler, loggers = _Lines(), [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    logging.root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.INFO)
    try:
        yield True
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
        logging.root.removeHandler(handler)


def log_fields(**fields: str) -> None:
    """Each line of JSON has these from now on."""
    for handler in _handlers():
        handler.fields |= fields


def log_done(message: str, instant: str | None) -> None:
    """Log the last line of a service: what it did, and at which instant. The command itself prints it for people."""
    if _handlers():
        log_fields(**({INSTANT: instant} if instant is not None else {}))
        _log.info("%s", message)


def _handlers() -> list[_Lines]:
    return [handler for handler in logging.root.handlers if isinstance(handler, _Lines)]


class _Lines(logging.StreamHandler[TextIO]):
    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.fields: dict[str, str] = {}

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"timestamp": at, "level": record.levelname.lower(), "logger": record.name}
        line |= {"event": record.getMessage(), **self.fields}
        if record.exc_info:
            line["exception"] = (self.formatter or logging.Formatter()).formatException(record.exc_info)
        return json.dumps(line)
