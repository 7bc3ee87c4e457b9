"""Reads a pipeline of Flink CDC. All that it asks for and that is not there is refused at once, with the lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.entry.mistake_text import mistake_message, unknown
from hudi_services.entry.yaml_positions import Marked, read_marked
from hudi_services.registry.mistakes import Mistake
from hudi_services.registry.pipeline.findings import Findings, Path, Section
from hudi_services.registry.pipeline.routes import joined, read_route
from hudi_services.registry.pipeline.rules import Pipeline
from hudi_services.registry.pipeline.sink import read_behavior, read_sink
from hudi_services.registry.pipeline.source import PipelineSource, read_source
from hudi_services.registry.pipeline.transforms import read_transform

_SECTIONS = ("source", "sink", "route", "transform", "pipeline")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@dataclass(frozen=True)
class PipelineReading:
    """Rules of a pipeline for tables of one server, its source, and what is refused or has no effect.

    With mistakes there are no rules.
    """

    rules: tuple[DatabaseRule, ...]
    source: PipelineSource | None
    folder: str
    mistakes: tuple[Mistake, ...]
    notes: tuple[Mistake, ...] = ()


def read_pipeline(
    file: str | PathLike[str], server: str, environ: Mapping[str, str], *, with_address: bool
) -> PipelineReading:
    """Return the rules of the pipeline in `file` for tables of the server `server`.

    Without `with_address` the server is declared elsewhere. No message shows a value of the YAML that may be a secret.
    """
    file_name = str(file)
    try:
        marked = read_marked(FilePath(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        return _refused([Mistake(file_name, 1, "file", f"cannot be read: {error}")])
    problems = [
        Mistake(file_name, problem.line, _key(problem.path), _safe(problem.message)) for problem in marked.problems
    ]
    if not isinstance(marked.data, dict):
        problems = problems or [Mistake(file_name, 1, "file", f"must be a mapping with {', '.join(_SECTIONS)}")]
        return _refused(problems)
    findings = Findings()
    pipeline = _pipeline(marked.data, findings, environ, with_address=with_address)
    mistakes = [*problems, *_placed(file_name, marked, findings.refusals)]
    notes = tuple(_placed(file_name, marked, findings.notes))
    if mistakes:
        return _refused(mistakes, notes)
    try:
        rules = pipeline.rules(server)
    except ValidationError as error:
        line = marked.line(("sink",))
        return _refused(
            [
                Mistake(file_name, line, "sink", mistake_message(problem, DatabaseRule, secret=True))
                for problem in error.errors()
            ],
            notes,
        )
    return PipelineReading(rules, pipeline.source, pipeline.sink.path, (), notes)


def _pipeline(data: dict[str, Any], findings: Findings, environ: Mapping[str, str], *, with_address: bool) -> Pipeline:
    for name in data:
        if name not in _SECTIONS:
            findings.refusals.append(((str(name),), unknown(str(name), _SECTIONS)))
    source = read_source(_mapping(data, "source", findings), environ, with_address=with_address)
    sink = read_sink(_mapping(data, "sink", findings), environ)
    job = _mapping(data, "pipeline", findings)
    in_utc = str(job.values.get("local-time-zone")).upper() == "UTC"
    behavior = read_behavior(job, sink, renames=source.renames)
    routes = joined(map(read_route, _items(data, "route", findings)), first_only=behavior.first_only)
    transforms = tuple(read_transform(item, in_utc=in_utc) for item in _items(data, "transform", findings))
    return Pipeline(source, sink, behavior, routes, transforms)


def _mapping(data: dict[str, Any], name: str, findings: Findings) -> Section:
    value = data.get(name)
    if value is not None and not isinstance(value, dict):
        findings.refusals.append(((name,), "must be a mapping"))
    return Section((name,), value if isinstance(value, dict) else {}, findings)


def _items(data: dict[str, Any], name: str, findings: Findings) -> Iterator[Section]:
    value = data.get(name)
    if value is not None and not isinstance(value, list):
        findings.refusals.append(((name,), "must be a list"))
    for position, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield Section((name, position), item, findings)
        else:
            findings.refusals.append(((name, position), "must be a mapping"))


def _placed(file: str, marked: Marked, findings: list[tuple[Path, str]]) -> Iterator[Mistake]:
    for path, message in sorted(findings, key=lambda finding: marked.line(finding[0])):
        yield Mistake(file, marked.line(path), _key(path), message)


def _key(path: Path) -> str:
    return ".".join(str(step + 1) if isinstance(step, int) else step for step in path) or "file"


def _safe(message: str) -> str:
    """A message about the YAML itself, without what it cites: it may be a password."""
    if " means " in message:
        return "must be in quotes: YAML reads another value"
    return _QUOTED.sub("'…'", message)


def _refused(mistakes: list[Mistake], notes: tuple[Mistake, ...] = ()) -> PipelineReading:
    return PipelineReading((), None, "", tuple(mistakes), notes)
