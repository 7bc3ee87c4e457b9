"""A folder of files as a source: its position is the checkpoint, the list of all files that were loaded."""

from __future__ import annotations

import logging
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import pyarrow as pa

from hoodie.clock import Clock, SystemClock
from hoodie.display import counted, some
from hoodie.engine import Engine
from hoodie.errors import ConfigError, CorruptTableError
from hoodie.model.place import identity
from hoodie.services.stages import FilesLeftOut, Item, Items
from hoodie.storage import open_storage
from hoodie.write.plan import WritePlan
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.columns import no_columns, roles, text_columns
from hudi_services.sources.ingest.files.checkpoint import KEY, Broken, Checkpoint
from hudi_services.sources.ingest.files.code_check import CodeCheck
from hudi_services.sources.ingest.files.declaration import declared_schema, defaults
from hudi_services.sources.ingest.files.listing import FORMATS, SourceFile, list_source
from hudi_services.sources.ingest.files.names import Names
from hudi_services.sources.ingest.files.numbers import roomy
from hudi_services.sources.ingest.files.pattern_check import idle_patterns_of, undated
from hudi_services.sources.ingest.files.plan import SHOWN, Choice, FilesPlan, Window, plan_files
from hudi_services.sources.ingest.files.readers import FileSplit, file_splits
from hudi_services.sources.ingest.files.schema import COUNTS, FileSchemas, with_later
from hudi_services.sources.ingest.files.schema_union import EXPONENTS, Weighed, unite, unite_by_rows
from hudi_services.sources.ingest.locations import Places
from hudi_services.sources.ingest.shape.shape import Shape
from hudi_services.sources.positions import Position, Since

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FilesSource:
    """Files of one format below `folder`, as `feed` chooses and reads them, of the days of `window` in their paths; each once,
    but with `reload` again. `only` are patterns of those that are asked for; without any all are.

    `later` are columns of the files that get these types when the rows are shaped.
    """

    folder: str
    file_format: str
    date_pattern: str | None = None
    window: Window = field(default_factory=Window)
    reload: bool = False
    only: tuple[str, ...] = ()
    feed: Feed = field(default_factory=Feed)
    later: pa.Schema = field(default_factory=lambda: pa.schema([]))
    clock: Clock = field(default_factory=SystemClock)

    @property
    def name(self) -> str:
        return self.folder

    @property
    def position_key(self) -> str:
        return KEY

    def discover(
        self, position: Position | None, places: Places, *, start_fresh: bool, since: Since | None = None
    ) -> FileBatch:
        """The files that were not loaded before, or are to be loaded again."""
        if not self.window.is_open and self.date_pattern is None:
            raise ConfigError(
                "A date range needs a date pattern", fix="pass --source-date-pattern, for instance dt=%Y-%m-%d"
            )
        defaults(self.feed)  # a mistake in them ends here, also where there is no file
        places.check_source(self.folder)
        own = [identity(places.table), identity(places.quarantine)]
        files = list_source(self.folder, self.file_format, self.date_pattern, own, any_ending=True)
        self._check_asked(files)
        before = self._checkpoint(position, start_fresh=start_fresh)
        choice = self._choice({} if since is None else self._again(since))
        plan = plan_files(files, before.loaded(self.folder), choice, self._broken(before))
        if plan.unmatched:
            paths = [file.path for file in files]
            plan = replace(plan, idle=tuple(idle_patterns_of(paths, self.folder, self.feed.pattern, self.file_format)))
        if self.date_pattern is not None and files and not any(file.day for file in files):
            sentence = undated(self.date_pattern, self.folder, [file.path for file in files])
            plan = replace(plan, idle=(*plan.idle, sentence))
        return FileBatch(self, before, plan)

    def _check_asked(self, files: Sequence[SourceFile]) -> None:
        """Raises ConfigError for a pattern of `--files` that matches no file: a user who names files wants them."""
        for pattern in self.only:
            named = Names((pattern,))
            if not any(file.path in named for file in files):
                raise ConfigError(
                    f"--files {pattern!r} names no file of the source",
                    found=f"{counted(len(files), 'file')} below {self.folder}",
                    fix="name a folder with a slash at its end, such as dt=2026-01-03/, or a pattern such as orders_*.csv",
                )

    def _again(self, since: Since) -> Mapping[str, str]:
        """Path of each file that was loaded after an instant -> the instant of the commit that loaded it last."""
        known = self._checkpoint(since.before, start_fresh=False).loaded(self.folder)
        loaded: dict[str, str] = {}
        for position in since.after:
            now = self._checkpoint(position, start_fresh=False).loaded(self.folder)
            loaded |= {path: position.instant for path, loaded_file in now.items() if known.get(path) != loaded_file}
            known = now
        return {path: instant for path, instant in loaded.items() if path in known}

    def _choice(self, reloaded: Mapping[str, str]) -> Choice:
        min_age = self.feed.min_age.total_seconds()
        settled = {"settled_ms": (self.clock.now().timestamp() - min_age) * 1000} if min_age else {}
        return Choice(
            self.window,
            Names(self.feed.pattern, FORMATS[self.file_format]),
            order=self.feed.order,
            reload=self.reload,
            only=Names(self.only),
            again=reloaded,
            **settled,
        )

    def _broken(self, before: Checkpoint) -> Mapping[str, Broken]:
        """The files that are left out again. Without `skip` there are none, and a broken file stops the load."""
        return before.broken(self.folder) if self.feed.quarantine.files == "skip" else {}

    def _checkpoint(self, position: Position | None, *, start_fresh: bool) -> Checkpoint:
        if position is None:
            return Checkpoint()
        try:
            result = Checkpoint.decode(position)
        except CorruptTableError:
            if not start_fresh:
                raise
            return Checkpoint()
        return result.without(self.folder) if start_fresh else result


@dataclass(frozen=True)
class FileBatch:
    """The files of a plan, and what was loaded `before`. An opened batch knows the `columns` of each file, and the files by
    the `units` of columns that make whole numbers of times. `known` are the columns, by their names in the files, that the table
    has, and `misread` the files in UTF-8 for which the feed declares another encoding."""

    source: FilesSource
    before: Checkpoint
    plan: FilesPlan
    columns: dict[str, frozenset[str]] = field(default_factory=dict)
    units: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    misread: tuple[str, ...] = ()
    operation: None = None
    is_history: bool = True
    deletions: None = None

    @property
    def items(self) -> Items:
        files = self.plan.files
        return Items(
            "load",
            tuple(Item(file.path, file.size, self.plan.again.get(file.path)) for file in files),
            sum(file.size for file in files),
        )

    @property
    def reason(self) -> str:
        return self.plan.reason

    @property
    def outcome(self) -> str:
        return self.plan.outcome

    @property
    def again(self) -> int:
        return sum(file.path in self.plan.again for file in self.plan.files)

    @property
    def stage(self) -> FilesLeftOut:
        return FilesLeftOut(tuple(file.path for file in self.plan.changed), tuple(self.plan.left_out))

    @property
    def files(self) -> int:
        return len(self.plan.files)

    @property
    def files_skipped(self) -> int:
        return len(self.plan.broken)

    @property
    def position(self) -> str:
        return self.before.with_files(self.source.folder, self.plan.files, self.plan.broken).encode()

    def first(self, count: int) -> FileBatch:
        """The batch with its first files alone."""
        return self.only(self.plan.files[:count])

    def only(self, files: Sequence[SourceFile]) -> FileBatch:
        """The batch with some of its files alone."""
        return replace(self, plan=replace(self.plan, files=tuple(files)))

    def opened(
        self, known: pa.Schema | None, engine: Engine, *, headers_only: bool = False
    ) -> tuple[FileBatch, pa.Schema]:
        """The files that can be read, and one schema of them, which workers look into.

        With `headers_only` no row is read: columns of CSV files that are not known have no type.
        """
        source = self.source
        files = self.plan.files
        expected = with_later(known, source.later, source.file_format)
        declared = declared_schema(source.feed, source.later, source.file_format)
        look = FileSchemas(
            open_storage(source.folder), source.file_format, expected, declared, source.feed, headers_only
        )
        looks = dict(zip(files, engine.map(look, [file.path for file in files]), strict=True))
        broken = {
            file.path: Broken(file.size, file.modified_ms, look.broken)
            for file, look in looks.items()
            if look.broken is not None
        }
        for path, entry in islice({**self.plan.broken, **broken}.items(), SHOWN, None):  # the outcome names the others
            _log.warning("Source file %s/%s cannot be read and is skipped: %s", source.folder, path, entry.reason)
        weighed_schemas = [weighed for look in looks.values() for weighed in look.schemas]
        united = self._united(([] if declared is None else [Weighed(declared, sys.maxsize)]) + weighed_schemas)
        if not united.names:
            rejected = [f"{file.path}, {look.rejected}" for file, look in looks.items() if look.rejected]
            if rejected:
                raise no_columns(source.name, rejected[0])
        if source.file_format == "csv":
            settled = {name for schema in (declared, expected) if schema is not None for name in schema.names}
            united = pa.schema(
                [column if column.name in settled else column.with_type(_stored(column.type)) for column in united]
            )
        columns = {
            file.path: frozenset(name for weighed in seen.schemas for name in weighed.schema.names)
            for file, seen in looks.items()
            if seen.broken is None
        }
        units: dict[str, dict[str, list[str]]] = {}
        for file, seen in looks.items():
            for column in (column for weighed in seen.schemas for column in weighed.schema if column.metadata):
                units.setdefault(column.name, {}).setdefault(column.metadata[COUNTS].decode(), []).append(file.path)
        of_table = frozenset(known.names if known is not None else ())
        misread = tuple(file.path for file, seen in looks.items() if seen.is_misread)
        plan = self.plan.without(broken)
        opened = replace(self, plan=plan, columns=columns, units=units, known=of_table, misread=misread)
        return opened, united

    @property
    def notes(self) -> Iterator[str]:
        """Lines about files that are read in a wrong encoding, and whole numbers that are made of times, for people."""
        if self.misread:
            yield (
                "files in UTF-8 are READ IN ANOTHER ENCODING, so that letters become others, such as Ã¼: "
                f"{some(self.misread, 3)}; write `encoding: utf-8` in the source if all files are so, or convert these, and load "
                "them again (--reload)"
            )
        for name, files in self.units.items():
            if len(files) == 1:
                yield f"times of {name} become whole numbers, which count {next(iter(files))}"
                continue
            units = " and ".join(f"{unit} in {some(paths, 3)}" for unit, paths in files.items())
            yield f"times of {name} become whole numbers of SEVERAL UNITS: {units}; declare it as timestamp_ntz or timestamp"

    @property
    def first_files(self) -> Mapping[str, str]:
        """The first file of each column of an opened batch."""
        return {name: path for path, names in reversed(self.columns.items()) for name in names}

    def files_without(self, names: Iterable[str], *, also_null: bool = False) -> dict[str, list[str]]:
        """Return the files that lack each of these columns of an opened batch. A column with a default counts as there.

        Objects of JSON leave out what is null, so that a file of them lacks a column only if it may not be null (`also_null`).
        """
        if self.source.file_format == "json" and not also_null:
            return {}
        files: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        for path, columns in self.columns.items():
            if columns:  # those of JSON with a `schema` are not known
                files[columns].append(path)
        filled = {name for name, column in self.source.feed.columns.items() if column.default is not None}
        lacking = {
            name: [path for columns, paths in files.items() if name not in columns for path in paths]
            for name in names
            if name not in filled
        }
        return {name: paths for name, paths in lacking.items() if paths}

    def _united(self, schemas: Sequence[Weighed]) -> pa.Schema:
        """The columns of all. Raises SchemaConflictError where types do not go together, but for JSON."""
        if self.source.file_format != "json":
            return unite((schema.schema for schema in schemas), guessed=self.source.file_format != "parquet")
        united, contradictions = unite_by_rows(schemas)
        if contradictions:
            _log.warning(
                "Columns of the source have values of types that do not go together: %s. The others go to the quarantine; "
                "declare the column in `schema` for another type",
                "; ".join(contradictions),
            )
        return united

    def splits(self, schema: pa.Schema, tasks: int, plan: WritePlan) -> list[FileSplit]:
        """The files in order, large Parquet files cut into their row groups."""
        source = self.source
        codes = self._codes(plan) if source.file_format != "parquet" else CodeCheck()
        if source.file_format == "csv":
            schema = text_columns(schema)
        storage, files, later = open_storage(source.folder), self.plan.files, source.later
        return file_splits(storage, source.file_format, files, schema, tasks, source.feed, later, codes)

    def _codes(self, plan: WritePlan) -> CodeCheck:
        key, *others = (
            [name.partition(".")[0] for name in role.names] for role in roles(plan.operation, plan.properties)
        )
        keys, strict = self._file_names(key), self._file_names([*key, *chain.from_iterable(others)])
        return CodeCheck.of(self.source.feed, self.known, frozenset(self.source.later.names), strict, keys)

    def _file_names(self, columns: Sequence[str]) -> frozenset[str]:
        shape = Shape.of(self.source.feed)
        return frozenset(shape.names(pa.schema([(name, pa.null()) for name in columns])))


def _stored(kind: pa.DataType) -> pa.DataType:
    """The type that a table gets for a guessed one of CSV."""
    return pa.string() if kind == EXPONENTS else roomy(kind)
