"""Skeleton files and the source files that hold their rows (format notes, section 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import unquote

from hoodie.errors import CorruptTableError
from hoodie.formats.bootstrap_index import BootstrapFile, read_bootstrap_index
from hoodie.keygen import DEFAULT_PARTITION
from hoodie.model.files import BaseFile, GroupId, SourceRows
from hoodie.model.names import METADATA_BOOTSTRAP
from hoodie.view.files import PartitionFiles
from hoodie.view.state import TableState


def with_sources(files: Sequence[PartitionFiles], state: TableState) -> list[PartitionFiles]:
    """`files` with the source of every committed skeleton. Reads the bootstrap index where there is one, and only then.

    Raises CorruptTableError for a skeleton that the index does not know, CorruptFileError for a torn index.
    """
    if not state.timeline.is_committed(METADATA_BOOTSTRAP):
        return list(files)
    skeleton_partitions = [group.partition for group in files if any(_is_skeleton(base) for base in group.base_files)]
    if not skeleton_partitions:
        return list(files)
    try:
        index = read_bootstrap_index(state.storage, skeleton_partitions)
    except FileNotFoundError as error:
        raise CorruptTableError(
            f"Table {state.storage.base_path} was bootstrapped without its rows, and the index of their source files is missing",
            found=str(error),
            fix="restore .hoodie/.aux/.bootstrap from a copy",
        ) from error
    by_group = {file.group: file for file in index.files}
    return [
        replace(group, base_files=tuple(_with_source(base, by_group, state) for base in group.base_files))
        for group in files
    ]


def path_values(folder: str, fields: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Values of the partition columns `fields` in the folders of a path: by name for `column=value`, otherwise by place.

    A plain path that has not one folder a column says nothing.
    """
    steps = folder.split("/") if folder else []
    named = dict(step.split("=", 1) for step in steps if "=" in step)
    if not named and len(steps) == len(fields):
        named = dict(zip(fields, steps, strict=True))
    return tuple((name, _value(named[name])) for name in fields if name in named)


def _value(text: str) -> str | None:
    return None if text == DEFAULT_PARTITION else unquote(text)


def _is_skeleton(base: BaseFile) -> bool:
    return base.instant == METADATA_BOOTSTRAP


def _with_source(base: BaseFile, by_group: Mapping[GroupId, BootstrapFile], state: TableState) -> BaseFile:
    if not _is_skeleton(base):
        return base
    entry = by_group.get(base.group)
    if entry is None:
        raise CorruptTableError(
            f"The bootstrap index of table {state.storage.base_path} has no source file for the rows of {base.path}",
            found=f"no entry for file id {base.file_id} of partition {base.partition!r}",
            fix="restore .hoodie/.aux/.bootstrap from a copy",
        )
    values = path_values(entry.source_partition, state.properties.partition_fields)
    return replace(base, source=SourceRows(entry.source.uri, entry.source.length, entry.source.modified_ms, values))
