"""Formats of messages by name. The contract of all of them is in `contract`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.canal import CanalJson
from hudi_services.sources.cdc.messages.contract import MESSAGES, Decoded, MessageFormat, Rejected, Statement
from hudi_services.sources.cdc.messages.debezium import DebeziumJson
from hudi_services.sources.cdc.messages.debezium_avro import DebeziumAvro
from hudi_services.sources.cdc.messages.maxwell import MaxwellJson
from hudi_services.sources.cdc.messages.plain import PlainAvro, PlainJson

__all__ = ["MESSAGES", "Decoded", "MessageFormat", "Rejected", "Statement", "message_format"]

_FORMATS: Mapping[str, Callable[..., MessageFormat]] = {
    "debezium-json": DebeziumJson,
    "debezium-avro": DebeziumAvro,
    "maxwell-json": MaxwellJson,
    "canal-json": CanalJson,
    "json": PlainJson,
    "avro": PlainAvro,
}


def message_format(name: str, **parameters: Any) -> MessageFormat:
    """Return the format with this name. Raises ConfigError for an unknown name or parameter."""
    if name not in _FORMATS:
        close = difflib.get_close_matches(name, _FORMATS) or sorted(_FORMATS)
        raise ConfigError(f"The message format {name!r} is unknown", found=name, fix=f"use {' or '.join(close)}")
    chosen: Any = _FORMATS[name]
    known = [field.name for field in fields(chosen)]
    for parameter in parameters:
        if parameter not in known:
            close = difflib.get_close_matches(parameter, known) or known
            raise ConfigError(
                f"The message format {name!r} has no parameter {parameter!r}",
                found=parameter,
                fix=f"use {' or '.join(close)}",
            )
    missing = [field.name for field in fields(chosen) if field.default is MISSING and field.name not in parameters]
    if missing:
        raise ConfigError(
            f"The message format {name!r} lacks a parameter", found="none", fix=f"give {' and '.join(missing)}"
        )
    result: MessageFormat = chosen(**parameters)
    return result
