"""Sources of rows in a table's entry: files, a topic of Kafka, or a table of a database server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PrivateAttr, Tag, model_validator

from hudi_services.entry.feed.model import BrokenFiles, Feed, Part, Texts, Zone
from hudi_services.entry.place import Place
from hudi_services.entry.server import KafkaServer

_DIRECTIVES = {"%Y", "%m", "%d", "%H", "%%"}
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_TABLE = re.compile(r"[^.\s]+\.[^.\s]+")

CHANGE_FORMATS = ("debezium-json", "debezium-avro", "canal-json", "maxwell-json")
"""Formats of messages that say which rows were inserted, updated and deleted."""
ROW_FORMATS = ("json", "avro")
"""Formats of messages that are rows."""
MESSAGE_OPTIONS: dict[str, tuple[str, ...]] = {
    "table": CHANGE_FORMATS,
    "zone": ("canal-json", "maxwell-json", "json"),
    "unavailable": ("debezium-json", "debezium-avro", *ROW_FORMATS),
    "decimals": ("debezium-json",),
    "timestamps": ("debezium-json", "json"),
    "key_column": ROW_FORMATS,
    "deleted": ROW_FORMATS,
}
"""Keys of a topic's source that say what its messages do not say, and the formats in which they have an effect."""
MAX_MESSAGES = 500_000
"""The default of the most messages in a commit."""


def _date_pattern(value: str) -> str:
    used = re.findall(r"%.?", value)
    if unknown := [directive for directive in used if directive not in _DIRECTIVES]:
        raise ValueError(f"{value!r} uses {unknown[0]}; known are %Y, %m, %d, %H and %%")
    if missing := {"%Y", "%m", "%d"} - set(used):
        raise ValueError(f"{value!r} gives no day: {', '.join(sorted(missing))} missing, as in 'dt=%Y-%m-%d'")
    return value


def topic_name(value: str) -> str:
    """Raises ValueError for a name that no topic of Kafka can have."""
    if not _TOPIC.fullmatch(value) or value in (".", ".."):
        raise ValueError(f"{value!r:.300} is no topic: letters, digits, `.`, `_` and `-`, at most 249")
    return value


def server_table(value: str) -> str:
    """Raises ValueError for text that is not DATABASE.TABLE."""
    if not _TABLE.fullmatch(value):
        raise ValueError(f"{value!r:.300} is no table of a server: write DATABASE.TABLE, such as shop.orders")
    return value


def _files_alone_have_expectations(value: object, instead: str) -> object:
    if isinstance(value, Mapping) and "expect" in value:
        raise ValueError(f"has `expect`, which checks files and nothing else; remove it: {instead}")
    return value


Text = Annotated[str, Field(min_length=1)]


def _null_word(value: object) -> object:
    return "null" if value is None else value  # YAML takes `null` for nothing


class BadRows(Part):
    """The folder of bad rows, and the share of them (0 to 1) past which nothing of a run is committed."""

    path: Place | None = None
    max_share: Annotated[float, Field(ge=0, le=1)] = 0.0


class Quarantine(BrokenFiles, BadRows):
    """Bad rows, and files that cannot be read."""


class FolderSource(Feed):
    """The files that are ingested, and how. `date_pattern` says how a file's path carries its date."""

    path: Place
    format: Literal["parquet", "csv", "json"]
    date_pattern: Annotated[str, AfterValidator(_date_pattern)] | None = None
    operation: Literal[
        "upsert", "insert", "bulk_insert", "delete", "insert_overwrite", "insert_overwrite_table", "delete_partition"
    ] = "upsert"
    quarantine: Quarantine = Quarantine()

    @property
    def feed(self) -> Feed:
        """The part that the command takes by its flag `--feed`."""
        fields = self.model_dump(by_alias=True, exclude_defaults=True, include=set(Feed.model_fields))
        files = {"quarantine": {"files": self.quarantine.files}}
        return Feed.model_validate({**fields, **files})

    @property
    def shown(self) -> str:
        """The source in a few words."""
        return f"{self.path} ({self.format})"

    @property
    def address(self) -> str:
        """The source as a path or URL."""
        return self.path


class TopicSource(Part):
    """A topic of a Kafka server, and the format of its messages.

    With `table` (DATABASE.TABLE of the source) other tables' messages in the topic are passed over. A commit takes in
    `max_messages` messages at most. At statements such as TRUNCATE a load stops, or goes on past them.

    The last ones say what messages do not say: the time `zone` of texts that are times, the text that Debezium sends for
    `unavailable` values, how `decimals` and `timestamps` are written without a schema, the column of keys that are no objects
    (`key_column`), and a column that is true in `deleted` rows.

    `masks` names columns whose values do not reach the lake, as those of a `DatabaseSource`.
    """

    server: str
    topic: Annotated[str, AfterValidator(topic_name)]
    format: Literal["debezium-json", "debezium-avro", "canal-json", "maxwell-json", "json", "avro"]
    table: Annotated[str, AfterValidator(server_table)] | None = None
    max_messages: Annotated[int, Field(ge=1, strict=True)] = MAX_MESSAGES
    statements: Literal["stop", "skip"] = "stop"
    zone: Zone | None = None
    unavailable: Text | None = None
    decimals: Literal["text", "bytes"] | None = None
    timestamps: Literal["ms", "us", "ns"] | None = None
    key_column: Text | None = None
    deleted: Text | None = None
    masks: dict[str, Literal["mask", "hash", "drop"]] = Field(default={})
    quarantine: BadRows = BadRows()
    _declared: KafkaServer | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _without_expectations(cls, value: object) -> object:
        return _files_alone_have_expectations(
            value, "messages that cannot be loaded go to its quarantine, up to `quarantine.max_share`"
        )

    @property
    def message_options(self) -> dict[str, str]:
        """The `MESSAGE_OPTIONS` that are set."""
        options = {name: getattr(self, name) for name in MESSAGE_OPTIONS}
        return {name: value for name, value in options.items() if value is not None}

    @property
    def declared(self) -> KafkaServer:
        """The server as the registry declares it."""
        assert self._declared is not None, "the registry has checked the name"
        return self._declared

    def on(self, declared: KafkaServer) -> TopicSource:
        """The same source with the declaration of its server."""
        result = self.model_copy()
        result._declared = declared
        return result

    @property
    def shown(self) -> str:
        """The source in a few words."""
        of_table = f", table {self.table}" if self.table is not None else ""
        return f"topic {self.topic} of {self.server} ({self.format}{of_table})"

    @property
    def address(self) -> str:
        """The source as a URL, with the registry's name of the server."""
        return f"kafka://{self.server}/{self.topic}"


class StatementPolicies(Part):
    """The steps of a load at statements that change rows without logging them, by their kind.

    `stop` ends the load before the statement. `apply` brings the Hudi table to what the server has after it. `ignore` keeps the
    rows that are there, and goes on with the changes that follow.
    """

    truncate: Literal["stop", "apply", "ignore"] = "stop"
    drop: Literal["stop", "apply", "ignore"] = "stop"
    rename: Literal["stop", "apply"] = "stop"
    alter: Literal["stop", "apply"] = "stop"

    @property
    def expect_absence(self) -> bool:
        """True if the load goes on while the server has no table of this name."""
        return self.drop != "stop" or self.rename != "stop"


class ReadingOptions(Part):
    """The way in which tables of a database server are read.

    `ignore_cascades` loads a table whose rows foreign keys change (CASCADE, SET NULL), which the server's log does not have.
    `statements` says what happens at statements such as TRUNCATE. If `columns` names some, no other column of the server
    reaches the lake. `masks` names columns whose values do not reach the lake:
    `mask` (`***`, or null for values that are no text), `hash` or `drop`. `zero_dates` says what dates such as 0000-00-00 become.
    `as_text` names columns of bytes that are read as hexadecimal digits, and columns of dates that are read as text.
    `add_columns` are expressions of the table's columns by the names of the columns that they make. Rows for which the condition
    `where` does not hold are not in the lake.
    """

    ignore_cascades: bool = False
    statements: StatementPolicies = StatementPolicies()
    columns: Texts = ()
    masks: dict[str, Literal["mask", "hash", "drop"]] = Field(default={})
    add_columns: dict[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")], Text] = Field(default={})
    where: str = ""
    zero_dates: Annotated[Literal["null", "text", "fail"], BeforeValidator(_null_word)] = "null"
    as_text: Texts = ()

    @model_validator(mode="before")
    @classmethod
    def _without_expectations(cls, value: object) -> object:
        return _files_alone_have_expectations(value, "`hudi-services cdc verify` compares a table with its server")


class DatabaseSource(ReadingOptions):
    """A table of a database server: DATABASE.TABLE."""

    server: str
    table: Annotated[str, AfterValidator(server_table)]

    @property
    def shown(self) -> str:
        """The source in a few words."""
        return f"table {self.table} of {self.server}"

    @property
    def address(self) -> str:
        """The source as a URL, with the registry's name of the server."""
        return f"mysql://{self.server}/{self.table}"


def _kind_of(value: object) -> str:
    """The tag of the model that the keys of a declaration belong to."""
    if isinstance(value, TopicSource):
        return "<topic>"
    if isinstance(value, DatabaseSource):
        return "<database>"
    if isinstance(value, Mapping):
        if "topic" in value or ("server" in value and "table" not in value):
            return "<topic>"
        if "server" in value:
            return "<database>"
    return "<folder>"


Source: TypeAlias = FolderSource | TopicSource | DatabaseSource
AnySource: TypeAlias = Annotated[
    Annotated[FolderSource, Tag("<folder>")]
    | Annotated[TopicSource, Tag("<topic>")]
    | Annotated[DatabaseSource, Tag("<database>")],
    Discriminator(_kind_of),
]
"""A source by the keys that its declaration has."""


def server_of(source: Any) -> str | None:
    """The name of the server that a source names; None for files."""
    return source.server if isinstance(source, TopicSource | DatabaseSource) else None
