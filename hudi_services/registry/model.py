"""What a table's entry may say. Frozen, and an unknown option is a mistake."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from croniter import croniter
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from hoodie.config.key import regex

_DIRECTIVES = {"%Y", "%m", "%d", "%H", "%%"}


def _one_or_more(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _cron(value: str) -> str:
    if not croniter.is_valid(value):
        raise ValueError(f"{value!r} is no cron schedule; five fields, such as '0 6 * * *' for 06:00 UTC each day")
    return value


def _date_pattern(value: str) -> str:
    used = re.findall(r"%.?", value)
    if unknown := [directive for directive in used if directive not in _DIRECTIVES]:
        raise ValueError(f"{value!r} uses {unknown[0]}; known are %Y, %m, %d, %H and %%")
    if missing := {"%Y", "%m", "%d"} - set(used):
        raise ValueError(f"{value!r} gives no day: {', '.join(sorted(missing))} missing, as in 'dt=%Y-%m-%d'")
    return value


def _as_text(value: object) -> object:
    """YAML's true, 5 and [a, b] as the text that a properties file would hold."""
    if not isinstance(value, Mapping):
        return value
    return {str(key): _scalar(item) for key, item in value.items()}


def _scalar(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value


def _regex(value: str) -> str:
    try:
        return regex(value)
    except ValueError as error:
        raise ValueError(f"{value!r} must be {error}") from None


Columns = Annotated[tuple[str, ...], BeforeValidator(_one_or_more)]
Cron = Annotated[str, AfterValidator(_cron)]
Options = Annotated[dict[str, str], BeforeValidator(_as_text)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Keys(_Part):
    """Columns that identify a record, place it, and decide which of two versions is the newer."""

    record_key: Annotated[Columns, Field(min_length=1)]
    partition_by: Columns = ()
    ordering: Columns = ()


class Quarantine(_Part):
    """Where bad rows go, and the share of them (0 to 1) past which nothing of a run is committed."""

    path: str | None = None
    max_share: Annotated[float, Field(ge=0, le=1)] = 0.0


class Source(_Part):
    """The files that are ingested. `date_pattern` says how a file's path carries its date."""

    path: str
    format: Literal["parquet", "csv", "json"]
    date_pattern: Annotated[str, AfterValidator(_date_pattern)] | None = None
    operation: Literal["upsert", "insert", "bulk_insert", "delete"] = "upsert"
    quarantine: Quarantine = Quarantine()


class _Service(_Part):
    schedule: Cron | None = None
    hoodie: Options = {}
    spark: Options = {}


class Ingest(_Service):
    """When files are loaded. A run loads its interval of the schedule; intervals begin from `start` to `end` (UTC days)."""

    start: date = date(2000, 1, 1)
    end: date | None = None


class Clean(_Service):
    """When old file versions are removed: on a schedule, after a number of commits since the last clean, or both."""

    after_ingests: Annotated[int, Field(ge=1)] | None = None


class Compact(_Service):
    """When logs of a merge-on-read table are merged: looked at on a schedule, after commits, or both.

    Whether a compaction is due is what the `hoodie.compact.*` options say. A run executes at most `max_plans` that wait.
    """

    after_ingests: Annotated[int, Field(ge=1)] | None = None
    max_plans: Annotated[int, Field(ge=1)] = 10


class Sync(_Part):
    """The Hive metastore is told of new commits: after each ingestion and compaction, and on a schedule."""

    schedule: Cron | None = None
    hoodie: Options = {}


class Bootstrap(_Part):
    """The plain table that this one is made of, once, before anything is ingested.

    `mode` goes for partitions whose path matches `mode_regex`, the other mode for the others. With `approval` a person looks at
    what the preflight found before anything is written.
    """

    source_path: str
    source_format: Literal["parquet", "orc"] = "parquet"
    mode: Literal["METADATA_ONLY", "FULL_RECORD"] = "METADATA_ONLY"
    mode_regex: Annotated[str, AfterValidator(_regex)] = ".*"
    check_keys: Literal["none", "sample", "full"] = "full"
    approval: bool = True
    hoodie: Options = {}
    spark: Options = {}


class Table(_Part):
    """One table. Without a source it is written by others and only serviced here.

    `results` is a folder that Spark's drivers and Airflow's workers share: needed when the connection has deploy mode cluster.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
    base_path: str
    keys: Keys | None = None
    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE"
    version: Literal[6, 9] = 9
    source: Source | None = None
    ingest: Ingest = Ingest()
    clean: Clean = Clean()
    compact: Compact = Compact()
    sync: Sync | None = None
    bootstrap: Bootstrap | None = None
    hoodie: Options = {}
    connection: str = "spark_default"
    results: str | None = None
    pool: str = "default_pool"
    retries: Annotated[int, Field(ge=0)] = 2
    owner: str = "airflow"
    tags: Columns = ()
    description: str = ""


Pools = dict[str, Annotated[int, Field(ge=1)]]


def known_names(path: tuple[Any, ...]) -> tuple[str, ...]:
    """The options that a table's entry may have at `path`, for the closest name to a wrong one."""
    model: type[BaseModel] = Table
    for step in path:
        found = model.model_fields.get(str(step))
        inner = _model_in(found.annotation) if found else None
        if inner is None:
            return ()
        model = inner
    return tuple(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    options = (annotation, *getattr(annotation, "__args__", ()))
    return next((kind for kind in options if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
