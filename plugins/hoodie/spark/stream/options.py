"""Options of `spark.readStream.format("hoodie")`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.errors import ConfigError
from hoodie.spark.source_options import OF_CATALOG, PATH

START = "hoodie.datasource.streaming.startoffset"
FORMAT = "hoodie.datasource.query.incremental.format"
_QUERY_TYPE = "hoodie.datasource.query.type"
MAX_COMMITS, MAX_BYTES, ON_DATA_LOSS = "maxcommitspertrigger", "maxbytespertrigger", "ondataloss"
_DESCRIPTIONS = {
    START: "hoodie.datasource.streaming.startOffset",
    MAX_COMMITS: "maxCommitsPerTrigger",
    MAX_BYTES: "maxBytesPerTrigger",
    ON_DATA_LOSS: "onDataLoss",
}
FAIL, FROM_EARLIEST, RESNAPSHOT = "fail", "earliest", "resnapshot"
EARLIEST, LATEST = "earliest", "latest"


@dataclass(frozen=True)
class StreamOptions:
    """How a stream reads a table. `start` is `earliest`, `latest`, an instant or a time, for a new checkpoint."""

    path: str
    changes: bool
    start: str
    max_commits: int | None
    max_bytes: int | None
    on_data_loss: str
    read: Mapping[str, str]
    """The keys of `hoodie.config.keys.read`."""


def is_stream(options: Mapping[str, str]) -> bool:
    """Return whether a stream takes these options and a batch does not: those of streams alone, or a format of changes without
    a type of query."""
    return any(name in _DESCRIPTIONS for name in options) or (FORMAT in options and _QUERY_TYPE not in options)


def stream_options(options: Mapping[str, str]) -> StreamOptions:
    """Parse the options, keys in lower case as Spark hands them over. Raises ConfigError."""
    remaining = {name: value for name, value in options.items() if name not in OF_CATALOG}
    if not remaining.get(PATH):
        raise ConfigError("A stream of format hoodie has no path", fix='name the table: load("/data/lake/orders")')
    loss = remaining.pop(ON_DATA_LOSS, FAIL).strip().lower()
    if loss not in (FAIL, FROM_EARLIEST, RESNAPSHOT):
        raise ConfigError("Option onDataLoss", found=loss, fix=f"set {FAIL}, {FROM_EARLIEST} or {RESNAPSHOT}")
    shape = remaining.pop(FORMAT, "latest_state").strip().lower()
    if shape not in ("latest_state", "cdc"):
        raise ConfigError(f"Option {FORMAT}", found=shape, fix="set latest_state for rows, or cdc for changes")
    kind = remaining.pop(_QUERY_TYPE, "incremental").strip().lower()
    if kind not in ("incremental", "snapshot"):  # Hudi's streams take either word
        raise ConfigError(
            "Option hoodie.datasource.query.type", found=kind, fix="leave it out: a stream is incremental"
        )
    return StreamOptions(
        path=remaining.pop(PATH),
        changes=shape == "cdc",
        start=remaining.pop(START, EARLIEST).strip(),
        max_commits=_count(remaining, MAX_COMMITS),
        max_bytes=_count(remaining, MAX_BYTES),
        on_data_loss=loss,
        read=remaining,
    )


def _count(options: dict[str, str], name: str) -> int | None:
    text = options.pop(name, None)
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise ConfigError(f"Option {_DESCRIPTIONS[name]}", found=repr(text), fix="set a whole number above 0")
    return int(text)
