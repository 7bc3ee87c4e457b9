"""What a table's entry may say. Frozen, and an unknown option is a mistake."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from croniter import croniter
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

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


Columns = Annotated[tuple[str, ...], BeforeValidator(_one_or_more)]
Cron = Annotated[str, AfterValidator(_cron)]
Options = Annotated[dict[str, str], BeforeValidator(_as_text)]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Keys(Part):
    """Columns that identify a record, place it, and decide which of two versions is the newer."""

    record_key: Annotated[Columns, Field(min_length=1)]
    partition_by: Columns = ()
    ordering: Columns = ()


class Quarantine(Part):
    """Where bad rows go, and the share of them (0 to 1) past which nothing of a run is committed."""

    path: str | None = None
    max_share: Annotated[float, Field(ge=0, le=1)] = 0.0


class Source(Part):
    """The files that are ingested. `date_pattern` says how a file's path carries its date."""

    path: str
    format: Literal["parquet", "csv", "json"]
    date_pattern: Annotated[str, AfterValidator(_date_pattern)] | None = None
    operation: Literal["upsert", "insert", "bulk_insert", "delete"] = "upsert"
    quarantine: Quarantine = Quarantine()


class ServiceSection(Part):
    """What a table's entry says of one service. Each entry of a service declares its own."""

    hoodie: Options = {}


class SparkSection(ServiceSection):
    """Of a service that runs on Spark."""

    spark: Options = {}


class Table(Part):
    """One table. Without a source it is written by others and only serviced here. Each service adds a section of its name.

    `results` is a folder that Spark's drivers and Airflow's workers share: needed when the connection has deploy mode cluster.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
    base_path: str
    keys: Keys | None = None
    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE"
    version: Literal[6, 9] = 9
    source: Source | None = None
    hoodie: Options = {}
    connection: str = "spark_default"
    results: str | None = None
    pool: str = "default_pool"
    retries: Annotated[int, Field(ge=0)] = 2
    owner: str = "airflow"
    tags: Columns = ()
    description: str = ""

    def section(self, service: str) -> Any:
        """What the entry says of a service; None when it says nothing and the service has no defaults."""
        return getattr(self, service, None) if service in type(self).model_fields else None


Pools = dict[str, Annotated[int, Field(ge=1)]]


def known_names(model: type[BaseModel], path: tuple[Any, ...]) -> tuple[str, ...]:
    """The options that a table's entry, described by `model`, may have at `path`, for the closest name to a wrong one."""
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
