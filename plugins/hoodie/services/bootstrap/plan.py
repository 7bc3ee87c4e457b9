"""Plan of a bootstrap from the footers of its source: the files to write, and the problems. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys import bootstrap as keys
from hoodie.config.properties.table import TableProperties
from hoodie.display import some
from hoodie.errors import HoodieError
from hoodie.keygen import key_generator
from hoodie.schema import find_field, normalise, reconcile
from hoodie.services.bootstrap.source import Footer, SourceSplit
from hoodie.storage.base import FileInfo, Storage
from hoodie.view.sources import path_values

_SEQNO_BYTES = 3  # bytes per row of the meta columns other than the key, compressed


@dataclass(frozen=True)
class PlannedFile:
    """A source file and what becomes of it. `folder` is relative to the source; sizes in bytes."""

    info: FileInfo
    folder: str
    mode: str
    rows: int
    values: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class BootstrapPlan:
    """Plan of a bootstrap. A plan with problems is refused; notes are worth knowing. Sizes in bytes."""

    source: str
    files: tuple[PlannedFile, ...]
    schema: pa.Schema | None  # data columns of the table
    layout: str  # hive, plain, mixed or flat
    inside: tuple[str, ...]  # partition columns that all files hold
    outside: tuple[str, ...]  # columns that some files have only in their folder names
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    key_bytes: int  # bytes of the key and partition columns, all that is read for METADATA_ONLY
    skeleton_bytes: int  # about what METADATA_ONLY would write of all files
    full_bytes: int  # and FULL_RECORD

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.info.size for file in self.files)

    @property
    def partitions(self) -> int:
        return len({file.folder for file in self.files})

    @property
    def bytes_read(self) -> int:
        """Bytes of the key columns, and of all columns of the files whose rows are copied."""
        return self.key_bytes + sum(file.info.size for file in self.of_mode(keys.FULL_RECORD))

    def of_mode(self, mode: str) -> tuple[PlannedFile, ...]:
        return tuple(file for file in self.files if file.mode == mode)

    def splits(self, storage: Storage, files: Sequence[PlannedFile], *, orc: bool) -> list[SourceSplit]:
        """The rows of some of the files, in the table's columns."""
        assert self.schema is not None, "a plan with problems is not carried out"
        return [SourceSplit(storage, file.info, self.schema, file.values, orc) for file in files]


def plan_bootstrap(
    source: str,
    footers: Sequence[Footer],
    properties: TableProperties,
    options: Options,
    bloom_bytes: Callable[[int], int],
) -> BootstrapPlan:
    """Plan from the footers. `bloom_bytes` returns the size in a footer of the bloom filter of N keys."""
    problems = [*_unreadable(footers)]
    good = [footer for footer in footers if footer.problem is None and footer.rows]
    fields = key_generator(properties)[1].fields
    files = tuple(_planned(footer, fields, options) for footer in good)
    typed = properties.features.typed_folders
    schema, clashes = _schema(good, files, fields, as_text=options[keys.BINARY_AS_STRING], typed=typed)
    problems += clashes
    if options[keys.SOURCE_FORMAT] == "ORC" and any(file.mode == keys.METADATA_ONLY for file in files):
        problems.append("ORC files can only be copied: rows of the table are Parquet; use the mode FULL_RECORD")
    if schema is not None:
        problems += _key_problems(good, schema, properties)
        problems += _folder_problems(files, good, schema, properties)
        problems += [*_lost_columns(files, good, fields), *_rounded_columns(files, good, schema)]
    inside = tuple(name for name in fields if all(_has(footer, name) for footer in good))
    key_bytes = sum(footer.key_bytes for footer in good)
    rows = sum(footer.rows for footer in good)
    skeletons = key_bytes + rows * _SEQNO_BYTES + sum(bloom_bytes(footer.rows) for footer in good)
    return BootstrapPlan(
        source,
        files,
        schema,
        _layout(good),
        inside,
        tuple(name for name in fields if name not in inside),
        tuple(problems),
        tuple(_notes(good, files, schema)),
        key_bytes,
        skeletons,
        sum(footer.info.size for footer in good) + skeletons,
    )


def _planned(footer: Footer, fields: Sequence[str], options: Options) -> PlannedFile:
    chosen = options[keys.MODE]
    other = keys.FULL_RECORD if chosen == keys.METADATA_ONLY else keys.METADATA_ONLY
    mode = chosen if re.fullmatch(options[keys.MODE_REGEX], footer.folder) else other
    return PlannedFile(footer.info, footer.folder, mode, footer.rows, path_values(footer.folder, fields))


def _unreadable(footers: Sequence[Footer]) -> Iterator[str]:
    bad = [f"{footer.info.path} ({footer.problem})" for footer in footers if footer.problem is not None]
    if bad:
        yield f"{len(bad)} files cannot be taken over: {some(bad)}; restore them, or take them away"
    empty = [footer.info.path for footer in footers if footer.problem is None and not footer.rows]
    if empty:
        yield f"{len(empty)} files hold no rows: {some(empty)}; take them away"


def _layout(footers: Iterable[Footer]) -> str:
    kinds = {"flat" if not footer.folder else "hive" if "=" in footer.folder else "plain" for footer in footers}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _schema(
    footers: Sequence[Footer], files: Sequence[PlannedFile], fields: Sequence[str], *, as_text: bool, typed: bool
) -> tuple[pa.Schema | None, list[str]]:
    """The columns of all files, then the partition columns that only folders have; and contradictions between files."""
    examples: dict[pa.Schema, str] = {}
    for footer in footers:
        examples.setdefault(_as_text(footer.schema) if as_text else footer.schema, footer.info.path)
    schema: pa.Schema | None = None
    clashes = []
    for stored, path in examples.items():
        try:
            columns = pa.schema([field.with_nullable(True) for field in normalise(stored)])
            schema = columns if schema is None else reconcile(schema, columns)
        except HoodieError as error:
            clashes.append(f"{path}: {error}")
    if schema is None:
        return None, clashes
    texts: dict[str, list[str | None]] = {}
    for file in files:
        for name, value in file.values:
            texts.setdefault(name, []).append(value)
    from_folders = [name for name in fields if name in texts and find_field(schema, name) is None and "." not in name]
    path_fields = [pa.field(name, _path_type(texts[name]) if typed else pa.string()) for name in from_folders]
    return pa.schema([*schema, *path_fields]), clashes


def _as_text(schema: pa.Schema) -> pa.Schema:
    return pa.schema([f.with_type(pa.string()) if pa.types.is_binary(f.type) else f for f in schema])


def _path_type(texts: Sequence[str | None]) -> pa.DataType:
    """The type that Spark would infer for a partition column, if writing it gives the same folder again: `01` stays text."""
    distinct = pa.array(sorted({text for text in texts if text is not None}), pa.string())
    for kind in (pa.int32(), pa.int64(), pa.date32()):
        try:
            if len(distinct) and distinct.cast(kind).cast(pa.string()) == distinct:
                return kind
        except pa.ArrowInvalid:
            continue
    return pa.string()


def _key_problems(footers: Sequence[Footer], schema: pa.Schema, properties: TableProperties) -> Iterator[str]:
    named = {
        "record key": properties.record_key_fields,
        "partition": properties.partition_fields,
        "ordering": properties.ordering_fields,
    }
    if not properties.record_key_fields:
        yield "keys cannot be generated for rows that are there already: name the record key columns"
    if properties.raw.get("hoodie.populate.meta.fields") == "false":
        yield "a table without meta columns cannot be bootstrapped: leave hoodie.populate.meta.fields at true"
    for use, names in named.items():
        for name in names:
            lacking = [f.info.path for f in footers if not _has(f, name) and name not in _path_values(f, properties)]
            if find_field(schema, name) is None:
                yield f"the {use} column {name!r} is not in the source; it has {', '.join(schema.names)}"
            elif lacking:
                yield f"the {use} column {name!r} is missing from {len(lacking)} files: {some(lacking)}"
    for name in properties.record_key_fields:
        nulls = [f"{f.info.path} ({f.nulls[name]} rows)" for f in footers if f.nulls.get(name)]
        if nulls and len(properties.record_key_fields) == 1:
            yield f"the record key column {name!r} is null in {len(nulls)} files: {some(nulls)}"


def _has(footer: Footer, name: str) -> bool:
    return find_field(footer.schema, name) is not None


def _path_values(footer: Footer, properties: TableProperties) -> Mapping[str, str | None]:
    return dict(path_values(footer.folder, properties.partition_fields))


def _folder_problems(
    files: Sequence[PlannedFile], footers: Sequence[Footer], schema: pa.Schema, properties: TableProperties
) -> Iterator[str]:
    """Skeletons stay in the source's folders: there the table's own key generator must put the rows later, too."""
    _, paths = key_generator(properties)
    stored = {footer.info.path: footer for footer in footers}
    wrong: dict[str, str] = {}
    hive = set()  # folders that the option alone makes right
    for file in files:
        if file.mode != keys.METADATA_ONLY or file.folder in wrong:
            continue
        if not paths.fields and file.folder:
            wrong[file.folder] = f"{file.folder!r} for a table without partitions"
            continue
        values = dict(file.values)
        if any(_has(stored[file.info.path], name) for name in paths.fields) or not values.keys() >= set(paths.fields):
            continue  # the rows show it: they are checked with the keys
        try:
            row = {name: pa.array([values[name]], pa.string()).cast(schema.field(name).type) for name in paths.fields}
            folder = paths.of(pa.table(row))[0].as_py() if row else ""
        except (HoodieError, pa.ArrowInvalid) as error:
            folder = str(error)
        if folder != file.folder:
            wrong[file.folder] = f"{file.folder!r}, where the table's key generator says {folder!r}"
            if folder == "/".join(part.partition("=")[2] for part in file.folder.split("/")):
                hive.add(file.folder)
    if wrong and len(hive) == len(wrong):
        yield (
            f"the source's folders name their partition columns, as in {some(sorted(hive)[:1])}, and those of the table would "
            "not: set hoodie.datasource.write.hive_style_partitioning=true"
        )
    elif wrong:
        yield (
            f"{len(wrong)} folders are not those of the table's partitions: {some(list(wrong.values()))}; correct "
            "hoodie.datasource.write.hive_style_partitioning, hoodie.datasource.write.partitionpath.urlencode or the "
            "partition columns, or copy the rows with the mode FULL_RECORD"
        )


def _lost_columns(files: Sequence[PlannedFile], footers: Sequence[Footer], fields: Sequence[str]) -> Iterator[str]:
    """Copied rows would lose a column that only their folder names. Rows that stay are in folders of partition columns."""
    folders_of_column: dict[str, list[str]] = {}
    for file, footer in zip(files, footers, strict=True):
        named = [step.partition("=")[0] for step in file.folder.split("/") if "=" in step]
        for name in named if file.mode == keys.FULL_RECORD else ():
            if name not in fields and not _has(footer, name):
                folders_of_column.setdefault(name, []).append(file.folder)
    for name, folders in folders_of_column.items():
        yield (
            f"the column {name!r} is in names of folders alone, and no partition column of the table: {some(folders)}; "
            "name it in hoodie.datasource.write.partitionpath.field, or store it in the files"
        )


def _rounded_columns(files: Sequence[PlannedFile], footers: Sequence[Footer], schema: pa.Schema) -> Iterator[str]:
    """Integers of files that stay would be rounded at each read; those of copied files are looked at one by one."""
    for field in schema:
        rounded = [
            file.info.path
            for file, footer in zip(files, footers, strict=True)
            if file.mode == keys.METADATA_ONLY
            and field.name in footer.schema.names
            and _rounds(footer.schema.field(field.name).type, field.type)
        ]
        if rounded:
            yield (
                f"column {field.name!r} is {field.type}, which would round the integers of {len(rounded)} files: "
                f"{some(rounded)}; copy them with the mode FULL_RECORD, which refuses only those that do not fit"
            )


def _rounds(stored: pa.DataType, kind: pa.DataType) -> bool:
    if pa.types.is_struct(stored) and pa.types.is_struct(kind):
        both = [(stored.field(name), kind.field(name)) for name in stored.names if kind.get_field_index(name) >= 0]
        return any(_rounds(field.type, other.type) for field, other in both)
    if pa.types.is_map(stored) and pa.types.is_map(kind):
        return _rounds(stored.item_type, kind.item_type)
    if pa.types.is_list(stored) and pa.types.is_list(kind):
        return _rounds(stored.value_type, kind.value_type)
    digits = {"float": 24, "double": 53}.get(str(kind))
    return digits is not None and bool(pa.types.is_integer(stored)) and stored.bit_width > digits


def _notes(footers: Sequence[Footer], files: Sequence[PlannedFile], schema: pa.Schema | None) -> Iterator[str]:
    int96 = sorted(frozenset().union(*(footer.int96 for footer in footers)))
    if int96:
        yield f"INT96 timestamps, taken as moments in UTC as Spark does: {', '.join(int96)}"
    unnamed = [footer.info.path for footer in footers if not footer.info.name.endswith(".parquet")]
    if unnamed:
        yield f"{len(unnamed)} files are not named .parquet: Hudi 0.15 reads them only if they are copied: {some(unnamed)}"
    for field in schema or ():
        if pa.types.is_timestamp(field.type) and field.type.tz is None:
            yield f"column {field.name!r} is a timestamp without zone: Hudi 0.15 and hudi-rs cannot read it"
        if pa.types.is_binary(field.type):
            yield f"column {field.name!r} is binary; if it is text, set {keys.BINARY_AS_STRING.name}=true"
    stay = {file.info.path for file in files if file.mode == keys.METADATA_ONLY}
    yield from _stored_notes([footer for footer in footers if footer.info.path in stay])
    for field in schema or ():
        kinds = {_kind(f.schema, field.name) for f in footers if field.name in f.schema.names}
        if len(kinds) > 1:
            yield f"column {field.name!r} differs between files: {', '.join(sorted(kinds))}; the table has {field.type}"
        lacking = sum(field.name not in footer.schema.names for footer in footers)
        if 0 < lacking < len(footers):
            yield f"column {field.name!r} is missing from {lacking} of {len(footers)} files: null there"


def _stored_notes(footers: Iterable[Footer]) -> Iterator[str]:
    """Yield notes on columns that other readers cannot read in files that stay as they are."""
    columns = {(field.name, field.type) for footer in footers for field in footer.schema}
    for name in sorted({name for name, kind in columns if _holds(kind, _in_nanoseconds)}):
        yield (
            f"column {name!r} is in nanoseconds: Spark and Hudi can read it only if it is copied (FULL_RECORD), and values "
            "finer than a microsecond cannot be taken over"
        )
    for name in sorted({name for name, kind in columns if _holds(kind, pa.types.is_float16)}):
        yield f"column {name!r} is a 16-bit float: Spark and Hudi can read it only if it is copied (FULL_RECORD)"


def _in_nanoseconds(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind)) and kind.unit == "ns"


def _holds(kind: pa.DataType, test: Callable[[pa.DataType], bool]) -> bool:
    """Return whether the type, or a type nested in it, passes the test."""
    return test(kind) or any(_holds(kind.field(number).type, test) for number in range(kind.num_fields))


def _kind(schema: pa.Schema, name: str) -> str:
    return str(schema.field(name).type)
