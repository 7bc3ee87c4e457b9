"""How far a Hudi table is known to be equal to its source: a small file below `.hoodie/.verified`, which Hudi's readers ignore.

It is no commit, so a table that is verified every hour does not get a timeline for it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from hoodie.errors import CorruptTableError
from hoodie.storage import BasePath, storage_of
from hoodie.storage.base import ReplacingStorage, Storage
from hoodie.storage.idempotent import create_own, replace_own

PATH = ".hoodie/.verified/source.json"


@dataclass(frozen=True)
class Proof:
    """The table at the commit `instant` had the rows of `source` as they were at `position` of its log.

    `log` identifies the log, `rows` is how many rows were compared, `verified_at` an ISO time by the clock of who compared them.
    """

    source: str
    position: str
    log: str
    instant: str
    rows: int
    verified_at: str


def verified_up_to(base_path: BasePath) -> Proof | None:
    """Return the last proof of the table at `base_path`, None where it was never verified.

    Raises CorruptTableError for a file that nothing of this project wrote.
    """
    storage = storage_of(base_path)
    content = _content(storage)
    return _proof(storage, content) if content is not None else None


def keep_proof(storage: Storage, proof: Proof) -> bool:
    """Put a proof in place of an earlier one. Return False where another process put a later one, and where the storage cannot
    replace a file on the condition that it has not changed."""
    if not isinstance(storage, ReplacingStorage):
        return False
    body = json.dumps(asdict(proof), indent=2).encode()
    while True:
        content = _content(storage)
        if content is None:
            try:
                create_own(storage, PATH, body)
            except FileExistsError:
                continue
            return True
        if _is_later(storage, content, proof):
            return False
        if replace_own(storage, PATH, content, body):
            return True


def _is_later(storage: Storage, content: bytes, proof: Proof) -> bool:
    try:
        return _proof(storage, content).verified_at > proof.verified_at
    except CorruptTableError:
        return False


def _content(storage: Storage) -> bytes | None:
    try:
        return storage.read(PATH)
    except FileNotFoundError:
        return None


def _proof(storage: Storage, content: bytes) -> Proof:
    try:
        return Proof(**json.loads(content))
    except (TypeError, ValueError) as error:
        raise CorruptTableError(
            f"The file {PATH} of table {storage.base_path} has no proof of a comparison",
            found=str(error),
            fix="delete it, then run `hudi-services cdc verify`, which writes it",
        ) from error
