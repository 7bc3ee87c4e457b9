"""Services that have work which no missed objective names, and services whose last run failed."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.display import counted
from hudi_services.operations.advice.facts import LastRun, TableFacts, Work
from hudi_services.operations.advice.model import Advice, Severity
from hudi_services.operations.advice.rules.remedy import command, effect, parameters, why_not_started
from hudi_services.operations.inspect.text import size

_MESSAGE = 400  # characters of an error, whose remedy comes last


def due(facts: TableFacts) -> Iterator[Advice]:
    """Each service that would do something now. One whose plan needs an approval waits for a user."""
    covered = {verdict.service for verdict in facts.objectives if not verdict.is_met}
    for service, work in facts.work.items():
        if not work.due or service in covered:
            continue
        yield Advice(
            facts.table,
            Severity.WAITING if work.over else Severity.DUE,
            "approval" if work.over else "due",
            service,
            _text(work),
            work.asked_since,
            fix=command(facts, service),
            effect=effect(facts, service),
            waits=why_not_started(facts, service),
            service=service,
            parameters=parameters(facts, service),
        )


def new_files(facts: TableFacts) -> Iterator[Advice]:
    """Files of the source that the next load brings. A table that misses its freshness has advice on its load."""
    new, loader = facts.new_files, facts.loader
    if new is None or loader is None or facts.is_stale:
        return
    yield Advice(
        facts.table,
        Severity.DUE,
        "new files",
        new.folder,
        f"{counted(new.count, 'new source file')}, {size(new.bytes)}, {'waits' if new.count == 1 else 'wait'} in {new.folder}",
        new.since,
        fix=command(facts, loader.service),
        waits=why_not_started(facts, loader.service),
        service=loader.service,
    )


def _text(work: Work) -> str:
    amount = counted(work.items, work.noun)
    match work.service:
        case "clean":
            return f"No reader needs {amount} of older versions, {size(work.bytes)}"
        case "compact":
            return f"Reads merge the logs of {amount}; {work.reason}"
        case "archive":
            return f"{amount} of the timeline can be archived"
        case "ttl":
            return f"{amount} of {size(work.bytes)} outlived the table's time to live"
    if not work.inputs:  # a snapshot of an earlier release
        return f"{amount}, {size(work.bytes)}, can be packed together; {work.reason}"
    inputs, outputs = counted(work.inputs, "file group"), counted(work.outputs, "file")
    return f"{inputs}, {size(work.bytes)}, can be packed into {outputs}; {work.reason}"


def last_runs(facts: TableFacts) -> Iterator[Advice]:
    """Services whose last run failed, was killed, or asked for an approval that the plan of now no longer shows."""
    for run in facts.runs:
        if run.outcome == "asks":
            work = facts.work.get(run.service)
            if work is None:
                yield _asks(facts, run)
            continue
        yield Advice(
            facts.table,
            Severity.FAILED,
            "run",
            run.service,
            f"The last run of {run.service} {'was killed' if run.outcome == 'killed' else 'failed'}",
            run.at,
            detail=_short(run.error, run.message),
            fix=_again(facts, run.service),
            waits=why_not_started(facts, run.service),
            service=run.service,
        )


def _again(facts: TableFacts, service: str, flag: str = "") -> str:
    """The command that runs the service again. A user has to choose the savepoint of a restore."""
    return facts.target.command("savepoint list" if service == "restore" else f"{service}{flag}")


def _asks(facts: TableFacts, run: LastRun) -> Advice:
    """The plan of now is not known here."""
    return Advice(
        facts.table,
        Severity.WAITING,
        "approval",
        run.service,
        f"The last run of {run.service} waits for an approval",
        run.at,
        detail=_short("", run.message),
        fix=_again(facts, run.service, " --explain"),
        waits="It waits for a user.",
        service=run.service,
    )


def _short(error: str, message: str) -> str:
    text = " ".join(": ".join(filter(None, (error, message))).split()).rstrip(".")
    cut = text if len(text) <= _MESSAGE else f"{text[:_MESSAGE]}…"
    return f"{cut}." if cut else ""
