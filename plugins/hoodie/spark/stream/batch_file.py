"""The last batch of a query in a small file below `.hoodie/.streams`, which no reader of Hudi's looks at.

The commits of a table do not say which batches it had before a rollback or restore, and Spark does not send them again. A query
that starts again compares this file with the commits.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from hoodie.errors import CorruptTableError
from hoodie.model.time import Time
from hoodie.spark.stream.batches import WrittenBatch
from hoodie.storage.base import ReplacingStorage, Storage
from hoodie.storage.idempotent import create_own, replace_own

FOLDER = ".hoodie/.streams"


@dataclass
class BatchFile:
    """The file of one query, as one run of the query uses it.

    A storage that cannot replace a file on the condition that it has not changed keeps none.
    """

    storage: Storage
    query: str
    _content: bytes | None = field(default=None, init=False)

    @property
    def path(self) -> str:
        """The place of the file: the name of a query may be any text."""
        return f"{FOLDER}/{hashlib.sha256(self.query.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}.json"

    def load(self) -> WrittenBatch | None:
        """Return the batch that was stored last; None if there is none. Raises CorruptTableError for a damaged file."""
        if not isinstance(self.storage, ReplacingStorage):
            return None
        try:
            self._content = self.storage.read(self.path)
        except FileNotFoundError:
            return None
        return self._decoded(self._content)

    def store(self, batch: WrittenBatch) -> None:
        """Put a batch in place of the one that was loaded or stored last.

        If the file has another content, a later run of the query has stored a later batch, and that one stays.
        """
        if not isinstance(self.storage, ReplacingStorage):
            return
        new, old = json.dumps({"query": self.query, **asdict(batch)}).encode(), self._content
        self._content = new
        if old is not None:
            replace_own(self.storage, self.path, old, new)
            return
        try:
            create_own(self.storage, self.path, new)
        except FileExistsError:
            return

    def _decoded(self, content: bytes) -> WrittenBatch:
        try:
            stored = json.loads(content)
            texts = [stored[name] for name in ("query", "run", "instant", "checkpoint")]
            if not all(isinstance(text, str) for text in texts) or texts[0] != self.query:
                raise ValueError(f"it belongs to query {texts[0]!r:.100}")
            return WrittenBatch(int(stored["batch"]), texts[1], Time.of(texts[2]), texts[3])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CorruptTableError(
                f"The file {self.path} of table {self.storage.base_path} has no batch of query {self.query}",
                found=f"{type(error).__name__}: {error}",
                fix="delete the file if no batch of the query was rolled back while it was stopped: the next batch makes it",
            ) from error
