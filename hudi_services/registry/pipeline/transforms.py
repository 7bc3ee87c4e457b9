"""The section `transform` of a pipeline: columns, rows, the key, the partitions and options of Hudi tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hoodie.config.keys.table import ORDERING_FIELDS, PARTITION_FIELDS, RECORD_KEY_FIELDS
from hudi_services.registry.pipeline.findings import Section
from hudi_services.registry.pipeline.patterns import TablePattern
from hudi_services.registry.pipeline.source import tables_at

_ORDER = ("ordering.fields", "precombine.field", "write.precombine.field", *ORDERING_FIELDS.names)


@dataclass(frozen=True)
class PipelineTransform:
    """Options of the Hudi tables of tables of these patterns, their only columns (none: all), expressions of added ones, and the
    condition of their rows (none: all rows)."""

    tables: tuple[TablePattern, ...]
    hoodie: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    added: Mapping[str, str] = field(default_factory=dict)
    where: str = ""


UNCHANGED = PipelineTransform(())
"""The transform of tables that no other takes."""


def read_transform(section: Section, *, in_utc: bool) -> PipelineTransform:
    """Return what a transform says, of a job whose times are formatted `in_utc`. Refusals are in the findings of the section."""
    tables = tables_at(section, "source-table", section.required("source-table"))
    section.ignore("description")
    columns, added, where = _chosen(section, in_utc=in_utc)
    if section.text("converter-after-transform"):
        section.refuse("converter-after-transform", "is not there: rows that the server deletes are deleted")
    hoodie = dict(_options(section))
    for key, option in (("primary-keys", RECORD_KEY_FIELDS.name), ("partition-keys", PARTITION_FIELDS.name)):
        if names := [name.strip() for name in (section.text(key) or "").split(",") if name.strip()]:
            hoodie[option] = ",".join(names)
    for key in section.rest():
        section.refuse(key, "is not there")
    return PipelineTransform(tables, hoodie, columns, added, where)


def _chosen(section: Section, *, in_utc: bool) -> tuple[tuple[str, ...], Mapping[str, str], str]:
    """The only columns, expressions of added ones, and the condition."""
    texts = {key: section.text(key) for key in ("projection", "filter")}
    if not any(texts.values()):
        return (), {}, ""
    from hudi_services.registry.pipeline import projections  # a parser of SQL, which most registries do not need

    projection, where = projections.EVERYTHING, ""
    try:
        if text := texts["projection"]:
            projection = projections.read_projection(text, in_utc=in_utc)
    except ValueError as error:
        section.refuse("projection", str(error))
    try:
        if text := texts["filter"]:
            where = projections.read_filter(text, projection)
    except ValueError as error:
        section.refuse("filter", str(error))
    return projection.columns, projection.added, where


def _options(section: Section) -> Iterator[tuple[str, str]]:
    delimiter = section.text("table-options.delimiter") or ","
    for option in filter(None, map(str.strip, (section.text("table-options") or "").split(delimiter))):
        name, _, value = map(str.strip, option.partition("="))
        if name in _ORDER:
            section.refuse(
                "table-options", f"has {name}, which is not there: the last change in the server's log counts"
            )
        elif not name.startswith("hoodie."):
            why = "write options of Hudi, which begin with `hoodie.`"
            section.refuse("table-options", f"has {name!r:.100}, which is not there: {why}")
        else:
            yield name, value
