"""Rows and changes that a reader will miss, and rows that it should not see: consumers that services have passed, the quarantine,
and loads that broke expectations."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime

from hoodie.changes.consumer_position import reset_command
from hoodie.display import counted
from hoodie.model.place import is_local
from hudi_services.operations.advice.facts import BadRows, TableFacts
from hudi_services.operations.advice.model import Advice, Severity, clock, length
from hudi_services.operations.inspect.text import size
from hudi_services.sources.ingest.files.pattern_check import DATE

_MOST_NAMED = 5  # files
_SOON = 0.25  # share of the time for which services keep commits for a consumer


def consumers(facts: TableFacts) -> Iterator[Advice]:
    """Consumers for which services no longer keep what they have not read, or soon will not."""
    for reader in facts.readers:
        if reader.held_until is None or not reader.commits_behind:
            continue
        unread = f"Consumer {reader.consumer!r} has not read {counted(reader.commits_behind, 'commit')}"
        seconds_left = (reader.held_until - facts.now).total_seconds()
        seconds_kept = (reader.held_until - reader.since).total_seconds() if reader.since is not None else 0.0
        if reader.passed:
            text = f"{unread}, and cleaning and archiving no longer keep them"
            since: datetime | None = reader.held_until
        elif seconds_left < _SOON * seconds_kept:
            deadline = clock(reader.held_until, facts.now)
            text = f"{unread}, which cleaning and archiving keep for {length(seconds_left)} more, until {deadline}"
            since = reader.since
        else:
            continue
        yield Advice(
            facts.table,
            Severity.LOSS,
            "consumer",
            reader.consumer,
            text,
            since,
            fix=facts.target.command("show consumers"),
            remedy=f"Let it read and commit. {_reset(facts, reader.consumer)} gives up what it has not read.",
            waits="It waits for the consumer, which no service starts.",
        )


def _reset(facts: TableFacts, consumer: str) -> str:
    return facts.target.first_command(reset_command(consumer))


def quarantine(facts: TableFacts) -> Iterator[Advice]:
    """Rows that loads left out of the table."""
    bad = facts.bad_rows
    if bad is None or not bad.loads:
        return
    rows = counted(bad.rows, "row") if bad.rows is not None else f"rows of {size(bad.bytes)}"
    yield Advice(
        facts.table,
        Severity.LOSS,
        "quarantine",
        bad.folder,
        f"{counted(bad.loads, 'load')} left {rows} in the quarantine",
        bad.since,
        detail=f"They are in {_place(bad)} and not in the table.{_most_frequent(bad)}",
        fix=_brought_back(bad) or facts.target.command("show quarantine"),
        remedy=f"{_MOVED if bad.elsewhere else ''}Each line of its files has a reason. Deliver repaired rows again, then delete "
        "the folder of that load.",
        waits="It waits for a user.",
    )


_MOVED = "The registry names another folder than at the time of the load: move the rows there, or correct `quarantine.path`. "


def _place(bad: BadRows) -> str:
    """The folders of the rows."""
    if not bad.elsewhere:
        return bad.folder
    own = f"{bad.folder} and " if bad.loads > len(bad.elsewhere) else ""
    more = f" and {len(bad.elsewhere) - 1} more folders" if len(bad.elsewhere) > 1 else ""
    return f"{own}{bad.elsewhere[0]}{more}"


def _brought_back(bad: BadRows) -> str:
    """The command that moves rows into the folder that the registry names; empty if none are elsewhere, or on another machine."""
    if not bad.elsewhere or not all(map(is_local, (bad.folder, *bad.elsewhere))):
        return ""
    folder = shlex.quote(bad.folder)
    return f"mkdir -p {folder} && mv {' '.join(map(shlex.quote, bad.elsewhere))} {folder}/"


def _most_frequent(bad: BadRows) -> str:
    return (
        f" The most frequent reason, of {counted(bad.reason_rows, 'row')}: {bad.reason.rstrip('.')}."
        if bad.reason
        else ""
    )


def changed_files(facts: TableFacts) -> Iterator[Advice]:
    """Source files that have changed since they were loaded: no run loads them again by itself."""
    changed = facts.changed_files
    if changed is None or not changed.paths:
        return
    shown, loader = changed.paths[:_MOST_NAMED], facts.loader
    more = f" and {len(changed.paths) - len(shown):,} more" if len(changed.paths) > len(shown) else ""
    of_ingest = loader is not None and loader.service == "ingest"
    files = " ".join(f"--files {shlex.quote(path)}" for path in shown)
    yield Advice(
        facts.table,
        Severity.LOSS,
        "changed files",
        changed.folder,
        f"{counted(len(changed.paths), 'source file')} changed after the load ({', '.join(shown)}{more})",
        changed.since,
        detail="The table has them as they were.",
        fix=facts.target.command(f"ingest --reload {files} --explain") if of_ingest else "",
        remedy="Run it without --explain to load the files again."
        if of_ingest
        else "Deliver the rows again in files of other names.",
        waits="It waits for a user.",
    )


def broken_files(facts: TableFacts) -> Iterator[Advice]:
    """Source files that loads left out because they cannot be read."""
    broken = facts.broken_files
    if broken is None or not broken.reasons:
        return
    path, reason = next(iter(sorted(broken.reasons.items())))
    yield Advice(
        facts.table,
        Severity.LOSS,
        "broken files",
        broken.folder,
        f"Loads leave {counted(len(broken.reasons), 'source file')} out, which cannot be read",
        broken.since,
        detail=f"Their rows are not in the table. {path}: {reason.rstrip('.')}.",
        fix=facts.target.command("ingest --explain"),
        remedy="Deliver each file again: a load tries it once it has changed.",
        waits="It waits for a user.",
    )


def idle_patterns(facts: TableFacts) -> Iterator[Advice]:
    """Patterns of the source that match no file: loads find nothing, and do not fail. It is graver if no load has made the
    table."""
    for text in facts.idle_patterns:
        is_date = text.startswith(DATE)
        yield Advice(
            facts.table,
            Severity.FAILED if facts.unreadable is not None else Severity.DUE,
            "source pattern",
            text.partition(":")[0],
            f"Loads {'of days ' if is_date else ''}find no file: {text}",
            fix=facts.target.command("ingest --explain"),
            remedy=f"Correct `source.{'date_pattern`' if is_date else 'pattern`, `format` or `path`'} in the registry.",
            waits="It waits for a user.",
        )


def checks(facts: TableFacts) -> Iterator[Advice]:
    """Data that was loaded though it failed checks."""
    failed_checks = facts.failed_checks
    if failed_checks is None:
        return
    lost = failed_checks.lost_rows
    yield Advice(
        facts.table,
        Severity.LOSS if lost else Severity.WAITING,
        "checks",
        failed_checks.instant,
        "The newest load dropped most of its rows for others of their keys"
        if lost
        else "The newest load broke expectations of its data",
        failed_checks.since,
        detail=f"{failed_checks.text}.",
        remedy="If the key is wrong, load into a new table with another `keys.record_key`. If it is right, say "
        "`source.repeated_keys: accept`."
        if lost
        else "Deliver corrected files, or correct `expect` of the source.",
        waits="It waits for a user.",
    )
