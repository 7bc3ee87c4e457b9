"""Load the new data of a source into a table, or explain the load: what the flags ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isinf
from typing import Any

from hoodie.config import select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.ingest import SOURCE_ROOT
from hoodie.config.keys.table import VERSION
from hoodie.config.keys.write import OPERATION
from hoodie.engine import Engine
from hoodie.errors import ConfigError
from hoodie.services.decision import Decision
from hoodie.services.stages import Load, LoadChecks
from hoodie.write.plan import chosen_operation
from hudi_services.entry.call import Call
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult
from hudi_services.sources.ingest.expectations.check import check_freshness, expectations
from hudi_services.sources.ingest.expectations.results import failed
from hudi_services.sources.ingest.feed_argument import read_feed
from hudi_services.sources.ingest.files.plan import Window
from hudi_services.sources.ingest.files.source import FilesSource
from hudi_services.sources.ingest.history import with_history
from hudi_services.sources.ingest.kafka.flags import topic_of_flags
from hudi_services.sources.ingest.load_plan import load_outlook
from hudi_services.sources.ingest.prepare import prepare
from hudi_services.sources.ingest.reload import check_again, only_files
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.rounds import Pace, Rounds
from hudi_services.sources.ingest.run import run_ingest
from hudi_services.sources.ingest.shape.shape import Shape
from hudi_services.sources.ingest.source import Batch, Source
from hudi_services.sources.ingest.work import ingest_work


@dataclass(frozen=True)
class IngestTask:
    """The ingestion of `request`; with a `pace` batch by batch, each of which is a line to `tell`."""

    request: IngestRequest
    pace: Pace | None = None
    tell: Callable[[str], None] = print

    def explain(self, engine: Engine) -> Decision[Batch]:
        """The new data of the source, in order. Raises RecordKeyError for keys of a new table that the load would refuse, and
        MissingColumnError for a key, partition or ordering column that no row has."""
        prepared = prepare(self.request, engine)
        outlook = load_outlook(self.request, prepared, engine)
        batch, after = outlook.batch, [step.name for step in prepared.after.steps if not step.quiet]
        name, shape = prepared.properties.name, self.request.shape.steps
        fails = failed(check_freshness(self.request.source, batch))
        checks = LoadChecks(
            tuple(expectations(self.request.source).texts),
            tuple(map(str, fails)),
            (*prepared.warnings(self.request.operation), *outlook.warnings),
        )
        return Decision(
            batch if batch.items.planned else None,
            batch.reason,
            (
                Load(name, prepared.table is None, shape, tuple(after)),
                batch.items,
                checks,
                batch.stage,
            ),
        )

    def run(self, engine: Engine) -> ServiceResult:
        if self.pace is not None:
            return Rounds("ingest", self.request, self.pace, self.tell).run(engine)
        return run_ingest(self.request, engine)

    def work(self, engine: Engine) -> Work:
        return ingest_work(self.request, engine)


def ingest_task(
    call: Call,
    source_path: str | None,
    source_format: str,
    feed: str | None,
    source_date_pattern: str | None,
    start: datetime | None,
    end: datetime | None,
    operation: str | None,
    reload: bool,
    reload_since: str | None,
    files: tuple[str, ...],
    start_fresh: bool,
    quarantine_path: str | None,
    max_bad_share: float,
    create_table_version: str | None,
    then_stream: float | None,
    source_topic: str | None = None,
    **of_topic: Any,
) -> IngestTask:
    """The ingestion of these flags and options. Raises ConfigError if they contradict each other."""
    options: dict[str, object] = {**call.options}
    if create_table_version is not None:
        version = options.setdefault(VERSION.name, create_table_version)
        if version != create_table_version:
            raise ConfigError(
                "--create-table-version contradicts another option",
                found=f"{create_table_version} and {VERSION.name}={version}",
                fix="keep one of them",
            )
    if start is not None and end is not None and start >= end:
        raise ConfigError(
            "The date range is empty", found=f"--from {start:%Y-%m-%d} --to {end:%Y-%m-%d}", fix="--to is exclusive"
        )
    chosen = chosen_operation(operation, resolve(select_keys(options, [OPERATION]), [OPERATION]))
    check_again(chosen, options, reload=reload, since=reload_since, start_fresh=start_fresh)
    if source_topic is not None:
        flags = {
            "--source-path": source_path, "--feed": feed, "--source-date-pattern": source_date_pattern,
            "--from": start, "--to": end, "--reload": reload, "--reload-since": reload_since, "--files": files,
        }  # fmt: skip
        _check_no_files(flags)
        shape = Shape()
        source: Source = topic_of_flags(source_format, source_topic, **of_topic)
    else:
        _check_no_topic(of_topic)
        declared = read_feed(feed, source_format)
        shape = Shape.of(declared)
        source = FilesSource(
            _source_folder(source_path, options),
            source_format,
            source_date_pattern,
            Window(start.date() if start else None, end.date() if end else None),
            reload,
            only_files(files),
            declared,
            shape.later,
        )
    request = IngestRequest(
        base_path=call.base_path,
        source=source,
        operation=chosen,
        start_fresh=start_fresh,
        reload_since=reload_since,
        quarantine_path=quarantine_path,
        max_bad_share=max_bad_share,
        options=options,
        shape=shape,
    )
    pace = Pace() if source_topic is not None else None
    if then_stream is None:
        return IngestTask(request, pace, call.tell)
    if reload or reload_since is not None:
        raise ConfigError("--then-stream contradicts --reload and --reload-since", fix="load again by a run of its own")
    lasting = timedelta.max if isinf(then_stream) else timedelta(minutes=then_stream)
    return IngestTask(with_history(request, "bulk_insert"), Pace(lasting=lasting), call.tell)


def _check_no_files(flags: Mapping[str, object]) -> None:
    """Raises ConfigError for flags that are for files."""
    for flag, value in flags.items():
        if value:
            raise ConfigError(
                f"{flag} contradicts --source-topic", found="it is for files", fix="leave one of the two out"
            )


def _check_no_topic(flags: Mapping[str, object]) -> None:
    """Raises ConfigError for flags that are for topics."""
    for name in ("source_server", "source_table", "message_option", "mask"):
        if flags.get(name):
            raise ConfigError(
                f"--{name.replace('_', '-')} has no effect",
                found="no --source-topic",
                fix="name the topic, or leave it out",
            )


def _source_folder(flag: str | None, options: Mapping[str, object]) -> str:
    """The folder that is loaded: of `--source-path`, or of HoodieStreamer's option. Raises ConfigError for none, or for two."""
    root = resolve(select_keys(options, [SOURCE_ROOT]), [SOURCE_ROOT]).get(SOURCE_ROOT)
    if flag is None and not root:
        raise ConfigError(
            "No source to load from", fix=f"pass --source-path, or set {SOURCE_ROOT.name}, to a folder of files"
        )
    if flag is not None and root and flag.rstrip("/") != root.rstrip("/"):
        raise ConfigError(
            f"--source-path contradicts {SOURCE_ROOT.name}", found=f"{flag} and {root}", fix="keep one of them"
        )
    return str(root) if flag is None else flag
