"""The section `source` of a pipeline: a server of MySQL or MariaDB, and the tables that are read."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from hudi_services.registry.pipeline.findings import Section
from hudi_services.registry.pipeline.patterns import TablePattern, patterns_of
from hudi_services.registry.variables import expand

_ANY = "scan.incremental.snapshot.chunk.size scan.snapshot.fetch.size connect.timeout connect.max-retries connection.pool.size "
_ANY += "heartbeat.interval chunk-meta.group.size chunk-key.even-distribution.factor.upper-bound "
_ANY += "chunk-key.even-distribution.factor.lower-bound scan.incremental.snapshot.chunk.key-column "
_ANY += "scan.incremental.close-idle-reader.enabled scan.incremental.snapshot.unbounded-chunk-first.enabled "
_ANY += "scan.incremental.snapshot.backfill.skip scan.incremental.snapshot.enabled"
_TUNING = tuple(_ANY.split())
"""Options of the reader in Flink, which say nothing of the rows."""
Tls = Literal["verify", "encrypt", "off"]
_TLS: dict[str, Tls] = {
    "disabled": "off",
    "required": "encrypt",
    "verify_ca": "verify",
    "verify_identity": "verify",
}
_SERVER_IDS = re.compile(r"(\d{1,10})(?:-\d{1,10})?")


@dataclass(frozen=True)
class PipelineSource:
    """A server and its tables: those that `tables` name without those of `excluded`.

    `server_id` is None where the pipeline names none. `renames` says that tools which give the name of a table to another one
    change tables here.
    """

    hostname: str
    port: int
    username: str
    password: str = field(repr=False)
    server_id: int | None
    tls: Tls
    tables: tuple[TablePattern, ...]
    excluded: tuple[TablePattern, ...]
    renames: bool

    def number(self, name: str) -> int:
        """Return the number by which the reader registers: without one in the pipeline a number of its address."""
        if self.server_id is not None:
            return self.server_id
        return 1_000_000_000 + zlib.crc32(f"{name}@{self.hostname}:{self.port}".encode()) % 1_000_000_000


def read_source(section: Section, environ: Mapping[str, str], *, with_address: bool) -> PipelineSource:
    """Return the source that a section says. Refusals are in the findings of the section.

    Without `with_address` the server is declared elsewhere, and its address and user are not read.
    """
    section.only("type", "mysql", "has to be mysql: no other source of a pipeline is read")
    section.required("type")
    section.ignore("name", "server-time-zone")  # TIMESTAMP columns are moments, in each zone of a session
    address = {"hostname": "", "username": "", "password": ""}
    if with_address:
        address = {key: _expanded(section, key, environ) for key in address}
    section.ignore(*address)
    port = section.text("port") or "3306"
    if not port.isdigit() or not 0 < int(port) < 65536:
        section.refuse("port", "has to be a port, such as 3306")
        port = "3306"
    _refuse_meanings(section)
    renames = section.text("scan.parse.online.schema.changes.enabled") == "true"
    for key in _TUNING:
        section.note(key, "is about the reader of Flink")
    for key in ("scan.newly-added-table.enabled", "scan.binlog.newly-added-table.enabled"):
        section.note(key, "new tables that match join in the next run, with their rows")
    number = _server_id(section)
    tables = tables_at(section, "tables", section.required("tables"))
    excluded = tables_at(section, "tables.exclude", section.text("tables.exclude") or "")
    tls = _tls(section)
    for key in section.rest():
        section.refuse(key, "is not there")
    return PipelineSource(
        address["hostname"],
        int(port),
        address["username"],
        address["password"],
        number,
        tls,
        tables,
        excluded,
        renames,
    )


def tables_at(section: Section, key: str, text: str, *, any_case: bool = True) -> tuple[TablePattern, ...]:
    """Return the patterns of an option. A text that has none is refused."""
    if not text:
        return ()
    try:
        return patterns_of(text, any_case=any_case)
    except ValueError as error:
        section.refuse(key, str(error))
        return ()


def _refuse_meanings(section: Section) -> None:
    """Refuse options that say something else of rows than loads do."""
    section.only(
        "scan.startup.mode",
        "initial",
        "has to be initial: a load begins with the rows that the server has, and goes on with its log",
    )
    for key in list(section.rest()):
        if key.startswith("scan.startup."):
            section.refuse(key, "is not there: a load begins with the rows that the server has")
        if key.startswith("debezium."):
            section.refuse(key, "is not there: no engine of Debezium reads the server")
    section.only("schema-change.enabled", "true", "has to be true: columns that the server adds are added")
    section.only("include-comments.enabled", "false", "has to be false: comments are not loaded")
    section.only(
        "treat-tinyint1-as-boolean.enabled", "false", "has to be false: TINYINT(1) is int32, since it may hold 7"
    )
    section.only("use.legacy.json.format", "false", "has to be false: JSON is text as the server prints it")
    if section.text("metadata.list"):
        section.refuse("metadata.list", "is not there: rows have the columns of the table")


def _expanded(section: Section, key: str, environ: Mapping[str, str]) -> str:
    """The text of an option, with values of environment variables. The messages show no value."""
    value = section.values.get(key)
    if isinstance(value, bool | float | date):
        section.refuse(key, "must be in quotes: YAML reads another value")
        return ""
    text = "" if value == "" and key == "password" else section.required(key)
    try:
        return expand(text, environ)
    except ValueError:
        section.refuse(key, "names an environment variable that is not set")
        return ""


def _server_id(section: Section) -> int | None:
    text = section.text("server-id")
    if text is None:
        return None
    match = _SERVER_IDS.fullmatch(text.strip())
    if match is None or not 0 < int(match[1]) < 2**32:
        section.refuse("server-id", "has to be a number or a range such as 5401-5404")
        return None
    return int(match[1])


def _tls(section: Section) -> Tls:
    mode, ssl = section.text("jdbc.properties.sslMode"), section.text("jdbc.properties.useSSL")
    if mode is not None and mode.lower() not in _TLS:
        section.refuse("jdbc.properties.sslMode", f"has to be {' or '.join(name.upper() for name in _TLS)}")
    if ssl is not None and ssl.lower() not in ("true", "false"):
        section.refuse("jdbc.properties.useSSL", "has to be true or false")
    if mode is not None:
        return _TLS.get(mode.lower(), "verify")
    if ssl is not None and ssl.lower() in ("true", "false"):
        return "encrypt" if ssl.lower() == "true" else "off"
    return "verify"
