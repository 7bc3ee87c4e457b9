"""The entry of a table. It is frozen, and an unknown option is a mistake."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from hoodie.config import select_keys
from hoodie.config.keys.concurrency import COMMON_KEYS
from hudi_services.entry.dag import BY_OBJECTIVES
from hudi_services.entry.feed.model import Duration, Part, Texts
from hudi_services.entry.objectives import Objectives
from hudi_services.entry.place import Place
from hudi_services.entry.schedule import cron
from hudi_services.entry.size_estimate import UP_TO
from hudi_services.entry.source import AnySource, FolderSource, TopicSource
from hudi_services.runtime.sizes import bytes_of


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


Cron = Annotated[str, AfterValidator(cron)]
Schedule = Annotated[str, AfterValidator(lambda value: value if value == BY_OBJECTIVES else cron(value))]
"""Cron, or `objectives`."""
Options = Annotated[dict[str, str], BeforeValidator(_as_text)]


def _named(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise ValueError("names no column; name the columns that identify a row: no two rows may share their values")
    return value


class Keys(Part):
    """Columns that identify a record, place it, and decide which of two versions is the newer. With `fixed_partition` all rows of
    a key have the same partition."""

    record_key: Annotated[Texts, AfterValidator(_named)]
    partition_by: Texts = ()
    fixed_partition: Annotated[bool, Field(strict=True)] = False
    ordering: Texts = ()


class ServiceSection(Part):
    """The section of one service in a table's entry. Each service declares its own.

    An alert reports a run that has not finished within `deadline` of being queued.
    """

    hoodie: Options = Field(default={})
    deadline: Annotated[Duration, Field(ge=timedelta(seconds=1))] | None = None


Engine = Literal["local", "spark", "auto"]
Bytes = Annotated[int, BeforeValidator(bytes_of)]


class SparkSection(ServiceSection):
    """The section of a service that can run on Spark. Its `engine` overrides that of the table."""

    spark: Options = Field(default={})
    engine: Engine | None = None


class Local(Part):
    """Services on threads, in a process of their own with `memory` bytes; with engine auto for runs of at most `up_to` bytes."""

    up_to: Bytes = bytes_of(UP_TO)
    memory: Annotated[Bytes, Field(ge=256 << 20)] = 2 << 30


class History(Part):
    """The Hudi table at `path` to which each run of a service adds a record.

    Records wait in the folder `spool`, beside it if it is not named, until a run writes those that wait into the table.
    """

    path: Place
    spool: Place | None = None


class Pages(Part):
    """The data that the pages in Airflow's UI show: with `rows`, samples of rows and rows that changed, without the columns
    `hidden`.

    All users see them who may read the results of the tasks of the table's DAGs.
    """

    rows: bool = False
    hidden: Texts = ()


class Table(Part):
    """One table. Without a source it is written by others and only serviced here. Each service adds a section of its name.

    `results` is a folder that Spark's drivers and Airflow's workers share: needed when the connection has deploy mode cluster.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
    base_path: Place
    keys: Keys | None = None
    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE"
    version: Literal[6, 9] = 9
    source: AnySource | None = None
    hoodie: Options = Field(default={})
    engine: Engine = "auto"
    local: Local = Local()
    connection: str = "spark_default"
    results: Place | None = None
    history: History | None = None
    objectives: Objectives = Objectives()
    pages: Pages = Pages()
    pool: str = "default_pool"
    retries: Annotated[int, Field(ge=0)] = 2
    owner: str = "airflow"
    tags: Texts = ()
    description: str = ""

    @property
    def common(self) -> dict[str, str]:
        """The options that hold for every service: the lock, and the rules for concurrent writers."""
        return select_keys(self.hoodie, COMMON_KEYS)

    @property
    def loader(self) -> Literal["ingest", "stream"]:
        """The service that loads its rows, if one of ours does."""
        return "ingest" if self.section("stream") is None else "stream"

    @property
    def filled_here(self) -> bool:
        """True if an ingestion or a stream of ours makes the table and loads its rows."""
        return self.source is not None or self.section("stream") is not None

    @property
    def is_ingested(self) -> bool:
        """True if `ingest` can load its rows from its source."""
        return isinstance(self.source, FolderSource | TopicSource)

    @property
    def folder(self) -> FolderSource | None:
        """Its source, if that is a folder of files."""
        return self.source if isinstance(self.source, FolderSource) else None

    def section(self, service: str) -> Any:
        """The section of a service in the entry; None if the entry lacks it and the service has no defaults."""
        return getattr(self, service, None) if service in type(self).model_fields else None


Pools = dict[str, Annotated[int, Field(ge=1)]]
