"""Files of timeline layout 1 as those of layout 2: their names, and their contents where the encoding differs (format notes,
sections 2.2 and 2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hoodie.errors import CorruptTableError
from hoodie.formats import avro_file
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, LayoutV2, State
from hoodie.timeline.codecs.clustering import decode_clustering_plan
from hoodie.timeline.codecs.commit import avro_commit, commit_of, decode_commit_avro, load_json

_COMMITS = frozenset({*WRITE_ACTIONS, Action.CLUSTERING})


@dataclass(frozen=True)
class StateFileChange:
    """A file of an instant, and its name in layout 2."""

    instant: Instant
    name: str


def in_layout_2(layout: LayoutV2, instant: Instant, *, is_clustering: bool) -> StateFileChange:
    """The file of `instant` in layout 2. `is_clustering`: the instant is one, which only its plan shows in layout 1.

    The completion is the begin: in layout 1 ranges compare the begin of commits, so a position that a reader has kept names
    the same commits after the upgrade. A file's modification time, which Hudi takes, is that of its last copy.
    """
    if instant.is_completed:
        return StateFileChange(instant, layout.completed_name(instant, instant.time))
    action = Action.CLUSTERING if is_clustering else instant.action
    return StateFileChange(instant, layout.pending_name(Instant(instant.time, action, instant.state)))


def body_in_layout_2(body: bytes, instant: Instant, where: str) -> bytes:
    """The content of the file of `instant` in layout 2. Raises CorruptTableError naming `where` for one that cannot be read."""
    if instant.action is Action.CLEAN and instant.state is State.INFLIGHT:
        return b""  # layout 1 has a copy of the plan there
    if instant.action not in _COMMITS or not _is_json(body, instant):
        return body
    record = load_json(body, where)
    if not record and not instant.is_completed:
        return b""
    replaces = instant.is_completed and instant.action is Action.REPLACE_COMMIT
    return encoded_commit(record, where, replaces=replaces)


def encoded_commit(record: dict[str, Any], where: str, *, replaces: bool) -> bytes:
    """The record of a commit as Avro, which was read again. Raises CorruptTableError for a record that Avro cannot hold whole."""
    name = "HoodieReplaceCommitMetadata" if replaces else "HoodieCommitMetadata"
    expected = commit_of(record, where)
    body = encoded(name, avro_commit(record), where)
    if decode_commit_avro(body, where) != expected:
        raise _refused(where, f"a commit that {name} cannot hold whole")
    return body


def encoded(name: str, record: dict[str, Any], where: str) -> bytes:
    """A record as a file of Avro. Raises CorruptTableError for one that is not of the schema `name`."""
    try:
        return avro_file.encode(name, record)
    except Exception as error:
        raise _refused(where, f"a record that is not of {name} ({type(error).__name__}: {error})") from error


def is_clustering_request(body: bytes, where: str) -> bool:
    """Return whether the request of a replacecommit holds the plan of a clustering."""
    return bool(body) and decode_clustering_plan(body, where) is not None


def _is_json(body: bytes, instant: Instant) -> bool:
    """A pending file may be empty, and the request of a replacecommit is Avro in both layouts."""
    return instant.is_completed or body.lstrip()[:1] == b"{"


def _refused(where: str, problem: str) -> CorruptTableError:
    return CorruptTableError(
        f"{where} cannot be converted", found=problem, fix="restore the file from a backup; the table was not upgraded"
    )
