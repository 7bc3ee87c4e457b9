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
_SHOWN = {
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


def is_stream(given: Mapping[str, str]) -> bool:
    """Return whether a stream takes these options and a batch does not: those of streams alone, or a format of changes without
    a type of query."""
    return any(name in _SHOWN for name in given) or (FORMAT in given and _QUERY_TYPE not in given)


def stream_options(given: Mapping[str, str]) -> StreamOptions:
    """Parse the options, keys in lower case as Spark hands them over. Raises ConfigError."""
    left = {name: value for name, value in given.items() if name not in OF_CATALOG}
    if not left.get(PATH):
        raise ConfigError("A stream of format hoodie has no path", fix='name the table: load("/data/lake/orders")')
    loss = left.pop(ON_DATA_LOSS, FAIL).strip().lower()
    if loss not in (FAIL, FROM_EARLIEST, RESNAPSHOT):
        raise ConfigError("Option onDataLoss", found=loss, fix=f"set {FAIL}, {FROM_EARLIEST} or {RESNAPSHOT}")
    shape = left.pop(FORMAT, "latest_state").strip().lower()
    if shape not in ("latest_state", "cdc"):
        raise ConfigError(f"Option {FORMAT}", found=shape, fix="set latest_state for rows, or cdc for changes")
    kind = left.pop(_QUERY_TYPE, "incremental").strip().lower()
    if kind not in ("incremental", "snapshot"):  # Hudi's streams take either word
        raise ConfigError(
            "Option hoodie.datasource.query.type", found=kind, fix="leave it out: a stream is incremental"
        )
    return StreamOptions(
        path=left.pop(PATH),
        changes=shape == "cdc",
        start=left.pop(START, EARLIEST).strip(),
        max_commits=_count(left, MAX_COMMITS),
        max_bytes=_count(left, MAX_BYTES),
        on_data_loss=loss,
        read=left,
    )


def _count(given: dict[str, str], name: str) -> int | None:
    text = given.pop(name, None)
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise ConfigError(f"Option {_SHOWN[name]}", found=repr(text), fix="set a whole number above 0")
    return int(text)
