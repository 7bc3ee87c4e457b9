"""Source files that the next run of a feed loads again, as the commits that record them are taken back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hoodie import WriteHooks
from hoodie.config import select_keys
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.display import counted
from hoodie.errors import CorruptTableError, MissingFileError, WriteConflictError
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hudi_services.sources.cdc.mysql import log_identity
from hudi_services.sources.ingest.changes import position as changes
from hudi_services.sources.ingest.files.checkpoint import KEY, Checkpoint
from hudi_services.sources.ingest.kafka import position as kafka
from hudi_services.sources.positions import Position, find_position

_OTHERS = {kafka.KEY: "topic", changes.KEY: "stream", log_identity.KEY: "database"}
_SHOWN = 20  # files that a plan lists for people


@dataclass(frozen=True)
class Feeds:
    """The positions of a table's feeds in one state: the entry of commits -> its newest value. `unread` says why one is not
    known."""

    positions: dict[str, Position | None]
    unread: str | None = None

    @staticmethod
    def of(state: TableState) -> Feeds:
        """Those of a state. A commit that cannot be read hides them, and stops nothing: it may be why the table is taken back."""
        try:
            return Feeds({key: find_position(state, key, start_fresh=False) for key in (KEY, *_OTHERS)})
        except (CorruptTableError, MissingFileError) as error:
            return Feeds({}, str(error))

    @property
    def files(self) -> Checkpoint:
        """The source files that are loaded. Raises CorruptTableError."""
        position = self.positions.get(KEY)
        return Checkpoint() if position is None else Checkpoint.decode(position)


@dataclass(frozen=True)
class Reloads:
    """The difference between the feeds `before` a rollback or restore and those `after` it."""

    before: Feeds
    after: Feeds

    @property
    def files(self) -> list[str]:
        """The source files that the next run loads again, if they are still there: paths with the folder of the source."""
        if self.before.unread or self.after.unread:
            return []
        try:
            was, now = self.before.files, self.after.files
        except CorruptTableError:
            return []
        return sorted(
            f"{source.rstrip('/')}/{path}"
            for source, files in was.sources.items()
            for path, loaded_file in files.items()
            if now.loaded(source).get(path) != loaded_file
        )

    def facts(self) -> dict[str, Any]:
        """For programs."""
        return {"loads_again": self.files, "reads_again": list(self._others()), "feeds_unread": self.before.unread}

    def lines(self) -> Iterator[str]:
        """For people, before they agree."""
        files = self.files
        if files:
            yield (
                f"the next run of the feed loads {counted(len(files), 'file')} again, if they are still there; "
                "--skip-files keeps them as loaded:"
            )
            yield from (f"  {path}" for path in files[:_SHOWN])
            if len(files) > _SHOWN:
                yield f"  … and {len(files) - _SHOWN} more (--json shows all)"
        yield from self._others()
        if self.before.unread:
            yield f"the files that the next run of the feed loads again are not known: {self.before.unread}"

    def _others(self) -> Iterator[str]:
        for key, noun in _OTHERS.items():
            was, now = self.before.positions.get(key), self.after.positions.get(key)
            if was is not None and (now is None or now.text != was.text):
                since = f"from the position of commit {now.instant}" if now is not None else "from its start"
                yield f"the next run reads the {noun} again {since}"

    def skip(self, table: HoodieTable, schema: pa.Schema | None, options: Mapping[str, object]) -> None:
        """Record the files as loaded, in a commit without rows. `schema` are the columns of the table before.

        Raises WriteConflictError when a feed has loaded something in the meantime, and what `HoodieTable.write` raises.
        """
        position = self.before.positions.get(KEY)
        columns = table.stored_schema or schema
        if position is None or columns is None or not self.files:
            return

        def check(state: TableState) -> None:
            now = find_position(state, KEY, start_fresh=False)
            if now != self.after.positions.get(KEY):
                raise WriteConflictError(
                    f"The files of table {table.base_path} were not marked as loaded",
                    found=f"a feed has loaded since the table was taken back: {now.where if now else 'none'}",
                    fix="move away the files that are not to be loaded again",
                )

        own = select_keys(options, WRITE_OPTIONS.keys)
        table.write(
            columns.empty_table(),
            "upsert",
            own,
            extra_metadata={KEY: position.text},
            hooks=WriteHooks(on_begin=check, on_others=check),
        )


def reloads_of(state: TableState, times: Collection[str]) -> Reloads:
    """The reloads of a rollback of these instants."""
    undone = [commit for commit in state.timeline.commits if commit.time in times]
    return Reloads(Feeds.of(state), Feeds.of(state.before(undone)))
