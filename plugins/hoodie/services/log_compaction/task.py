"""Merging the log blocks of one slice into a new log file. Runs in the workers (format notes, section 6.5)."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.log import Header
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import DELETE, RESET
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.model.names import LogFileName
from hoodie.schema import conform
from hoodie.services.log_compaction.plan import mergeable
from hoodie.services.rewrite.slice_task import SliceTask
from hoodie.write.worker.log_file import LogFileHandle


@dataclass(frozen=True)
class LogCompactSlice(SliceTask):
    """Task function: (number, (slice, name of the new log without its write token)) -> stat; None when nothing can be merged.

    Rows keep their commit time and sequence number. Deletions by key stay deletions, with their ordering values: they still hide
    rows of the base file. A row that is marked as a deletion stays that row. The new blocks have no positions: of a key that
    occurs twice in the base file, which Hudi's writers log twice, one row remains.
    """

    def __call__(self, task: tuple[int, tuple[FileSlice, LogFileName]]) -> WriteStat | None:
        number, (file_slice, name) = task
        logs = self.merger.logs.open(file_slice)
        blocks = logs.blocks
        if len(blocks) < 2 or not mergeable(blocks):
            return None
        log = LogFileHandle(self.writing, self.file, file_slice, name, number, logs.reader.rules.ordering)
        times = ",".join(dict.fromkeys(block.instant for block in blocks))
        writes = deletes = 0
        with log.open({Header.COMPACTED_BLOCK_TIMES: times}):
            for rows in self.merger.log_rows(file_slice, logs):
                by_key = pc.and_(rows[DELETE], pc.is_null(rows[COMMIT_TIME]))
                deleted, changed = rows.filter(by_key), rows.filter(pc.invert(by_key))
                writes, deletes = writes + changed.num_rows, deletes + deleted.num_rows
                log.write_rows(changed, conform)
                self._write_deletes(log, deleted)
        return log.stat(writes, deletes, file_slice.base_instant)

    def _write_deletes(self, log: LogFileHandle, deleted: pa.Table) -> None:
        """Deletions without ordering values, which always win, and those with."""
        ordering = self.merger.logs.rules.ordering
        for resets in (True, False):
            some = deleted.filter(deleted[RESET] if resets else pc.invert(deleted[RESET]))
            log.write_deletes(some, () if resets else ordering)
