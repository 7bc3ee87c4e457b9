"""The entry of a registry, as YAML with remarks."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from hoodie.display import counted
from hudi_services.sources.infer.columns import Roles
from hudi_services.sources.infer.dialect import Dialect
from hudi_services.sources.infer.feed_comparison import lacks_text, others_text

_SHOWN = 5  # names of empty files
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class Finding:
    """All that is known of a folder. `types` are those of the columns, in SQL's words."""

    name: str
    folder: str
    file_format: str
    files: int
    looked_at: int
    rows: int
    whole: bool
    date_pattern: str | None
    dialect: Dialect
    types: Mapping[str, str]
    roles: Roles
    renamed: Mapping[str, str] = field(default_factory=dict)
    bad: Sequence[str] = ()  # why rows of the sample cannot be loaded
    others: Sequence[str] = field(default_factory=tuple)
    broken: Mapping[str, str] = field(default_factory=dict)  # why files cannot be read, by their paths
    empty: Sequence[str] = ()  # files of 0 bytes
    mostly: Collection[str] = ()  # columns that are numbers but for a few values
    untyped: Sequence[str] = ()  # columns and fields, dotted, without a value
    modified_ms: Sequence[int] = ()  # when the files were changed last
    patterns: Sequence[str] = ()  # patterns of the names of the files
    strangers: Mapping[str, Collection[str]] = field(default_factory=dict)  # files of other feeds, and their columns
    is_of_pattern: bool = False  # the user chose some of the files of a folder
    exponents: Mapping[str, str] = field(default_factory=dict)  # columns of codes, and one that looks like a number
    lacked: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns that files lack, and these files


def entry_text(finding: Finding) -> str:
    """A registry of one table. Uncertain lines have a remark with a question mark."""
    return "".join(f"{line}\n" for line in _lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    part = (
        ""
        if finding.whole and finding.looked_at == finding.files
        else ", their beginnings"
        if not finding.whole
        else ""
    )
    files = counted(finding.files, f"{finding.file_format} file")
    yield f"# By hudi-services infer: {finding.looked_at} of {files}{part}; {counted(finding.rows, 'row')}."
    yield "# Look at each line with a question mark; `hudi-services registry check` and `ingest --explain` show more."
    for other in finding.others:
        yield f"# There are {other} files, too, which this leaves alone."
    for reason in finding.bad:
        yield f"# Cannot be loaded: {' '.join(reason.split())}"
    for path, reason in finding.broken.items():
        yield f"# Cannot be read, and was left out: {path} ({' '.join(reason.split())})"
    if finding.strangers:
        yield f"# Several feeds? Other columns than most: {others_text(finding.strangers)}. Then name a pattern of one"
    if finding.lacked:
        lacks = lacks_text(finding.lacked)
        yield f"# Columns are lacking: {lacks}. Its rows have null there, also where they replace rows with a value"
    if finding.empty:
        more = f" … and {len(finding.empty) - _SHOWN:,} more" if len(finding.empty) > _SHOWN else ""
        yield f"# Empty (0 bytes), and was left out: {', '.join(finding.empty[:_SHOWN])}{more}"
    if repeats := finding.roles.repeats:
        are = "row is identical to another one" if repeats == 1 else "rows are identical to others"
        yield f"# {repeats:,} {are}, and would count once. If each counts, deliver a column that numbers them"
    yield "tables:"
    yield f"  - name: {_word(finding.name)}"
    place = f"{finding.folder.rstrip('/')}{f'_{finding.name}' if finding.is_of_pattern else ''}_table"
    yield f"    base_path: {_word(place)}  # where the table shall be?"
    yield "    keys:"
    yield f"      record_key: {_list(finding.roles.record_key)}{_remark(finding.roles.notes.get('record_key'))}"
    yield from _partition(finding.roles)
    yield from _ordering(finding.roles)
    yield from _index(finding.roles)
    yield "    source:"
    yield f"      path: {_word(finding.folder)}"
    yield f"      format: {finding.file_format}"
    if finding.patterns:
        yield f"      pattern: {_list(finding.patterns) if len(finding.patterns) > 1 else _word(finding.patterns[0])}"
    if finding.date_pattern is not None:
        yield f"      date_pattern: {_word(finding.date_pattern)}  # each run loads the dates of its interval"
    yield from _quarantine(finding)
    yield from _expect(finding.roles)
    yield from _dialect(finding)
    yield from _schema(finding)
    yield from _times(finding)


def _partition(roles: Roles) -> Iterator[str]:
    if roles.partition is not None:
        yield f"      partition_by: {_list([roles.partition])}  # each date has many rows; better one folder?"
    elif "partition" in roles.notes:
        yield f"      # partition_by: {_list([roles.notes['partition']])}  # has few values?"


def _ordering(roles: Roles) -> Iterator[str]:
    if roles.ordering is not None:
        or_else = roles.notes.get("ordering", "of two versions of a row the later one is kept")
        yield f"      ordering: {_list([roles.ordering])}{_remark(or_else)}"
        return
    only = next(iter(roles.moments), None)
    or_else = "no column says which version of a row is newer: the later file counts"
    or_else = roles.notes.get("ordering", "does it say which version of a row is newer" if only else or_else)
    yield f"      # ordering: {_list([only or 'updated_at'])}{_remark(or_else)}"


def _index(roles: Roles) -> Iterator[str]:
    """A key without the partition column is unique in the table only by a global index: the row of another date would be a
    second one."""
    if roles.partition is None or roles.partition in roles.record_key:
        return
    why = (
        f"{roles.partition} changes between rows of one key, and with this index the row moves"
        if roles.moves
        else f"a row whose {roles.partition} changes moves. SIMPLE is faster, and keeps both rows where it changes"
    )
    yield "    ingest:"
    yield "      hoodie:"
    yield f"        hoodie.index.type: GLOBAL_SIMPLE{_remark(why)}"


def _quarantine(finding: Finding) -> Iterator[str]:
    keys, remarks = [], []
    if finding.broken or finding.empty:
        keys.append("files: stop")
        remarks.append("or skip: left out, and reported with each load")
    if finding.bad:
        keys.append("max_share: 0")
        remarks.append("or 0.01: up to one bad row in a hundred is set aside, more stop the load")
    if keys:
        yield f"      quarantine: {{{', '.join(keys)}}}{_remark('; '.join(remarks))}"


def _expect(roles: Roles) -> Iterator[str]:
    """A key that the sample has once may come twice in what the sample does not have. Identical rows would stop each load, so
    that the user decides."""
    if not roles.record_key:
        return
    versions = roles.ordering is not None and roles.ordering not in roles.record_key
    columns = [*roles.record_key, *([str(roles.ordering)] if versions else [])]
    why = "a load with the same key twice stops, as one of the two rows would be lost; without this line the later one is kept"
    if roles.repeats:
        why = (
            "identical rows, as the sample has, would stop each load; without this line the later row of a key is kept"
        )
    yield f"      {'# ' * bool(roles.repeats)}expect: {{unique: {_list(columns)}}}{_remark(why)}"


def _dialect(finding: Finding) -> Iterator[str]:
    if finding.dialect.options:
        yield f"      {finding.file_format}:"
        for key, value in finding.dialect.options.items():
            yield f"        {key}: {_value(value)}{_remark(finding.dialect.unsure.get(key))}"


def _schema(finding: Finding) -> Iterator[str]:
    if finding.file_format == "parquet":
        yield "      # columns, as the files have them:"
        for name, kind in finding.types.items():
            yield f"      #   {_word(name)}: {kind}"
        yield from _untyped(finding)
        yield from _rename(finding)
        return
    yield "      undeclared: keep  # of columns that are not in the sample the type is guessed; `refuse` stops the load?"
    yield "      schema:"
    old = {name: old_name for old_name, name in finding.renamed.items()}
    for name, kind in finding.types.items():
        type_name = "string" if name in finding.roles.times else kind
        unsure = "a few values are no numbers; string takes these, too" if name in finding.mostly else None
        if name in finding.exponents:
            unsure = f"{finding.exponents[name]} is a code; double if it is a number"
        yield f"        {_word(old.get(name, name))}: {_word(type_name)}{_remark(unsure)}"
    yield from _untyped(finding)
    yield from _rename(finding)


def _untyped(finding: Finding) -> Iterator[str]:
    if finding.untyped:
        yield f"      # no value in the sample, so the first load with one shows the type: {', '.join(finding.untyped)}"


def _rename(finding: Finding) -> Iterator[str]:
    if finding.renamed:
        yield "      rename:  # what a table's columns may be called: letters, digits, underscores"
        for old_name, name in finding.renamed.items():
            twin = next((other for other in finding.types if other.lower() == old_name.lower()), None)
            apart = f"{twin} and {old_name} differ in case alone; are they two columns" if twin is not None else None
            yield f"        {_word(old_name)}: {_word(name)}{_remark(apart)}"


def _times(finding: Finding) -> Iterator[str]:
    roles = finding.roles
    if roles.times:
        yield "      timestamps:"
        for name, text in roles.times.items():
            or_else = roles.notes.get(f"times.{name}")
            zone = "a zone, as {formats: …, zone: Europe/Berlin}?"
            yield f"        {_word(name)}: {_word(text)}{_remark(f'{or_else} {zone}' if or_else else zone)}"
    for name in finding.types:
        if (mixed := roles.notes.get(f"epochs.{name}")) is not None:
            yield f"      # {_word(name)}: {mixed}, so it stays a number. Deliver one unit, or convert it with `sql`"
        if (formats := roles.notes.get(f"formats.{name}")) is not None:
            yield f"      # timestamps: {{{_word(name)}: {{formats: {formats}}}}}  # are these times of several formats?"
    for name, unit in roles.epochs.items():
        yield f"      # timestamps: {{{_word(name)}: {unit}}}  # are these numbers times?"


def _remark(text: str | None) -> str:
    return f"  # {text if text.endswith('?') else text + '?'}" if text else ""


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_word(name)}: {_value(inner)}' for name, inner in value.items())}}}"
    return _list(value) if isinstance(value, list | tuple) else _word(value)


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_word, names))}]"


def _word(value: Any) -> str:
    """A scalar, in quotes where YAML would take it for something else."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and yaml.safe_load(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)
