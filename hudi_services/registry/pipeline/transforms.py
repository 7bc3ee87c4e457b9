"""The section `transform` of a pipeline: the key, the partitions and options of Hudi tables."""

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
    """Options of the Hudi tables of tables of these patterns."""

    tables: tuple[TablePattern, ...]
    hoodie: Mapping[str, str] = field(default_factory=dict)


UNCHANGED = PipelineTransform(())
"""The transform of tables that no other takes."""


def read_transform(section: Section) -> PipelineTransform:
    """Return what a transform says. Refusals are in the findings of the section."""
    tables = tables_at(section, "source-table", section.required("source-table"))
    section.ignore("description", "projection")
    if columns := _projected(section.text("projection") or "*"):
        section.refuse("projection", f"is not there but for \\*: it names {', '.join(columns)}")
    for key in ("filter", "converter-after-transform"):
        if section.text(key):
            section.refuse(key, "is not there: all rows are loaded, and deleted ones are deleted")
    hoodie = dict(_options(section))
    for key, option in (("primary-keys", RECORD_KEY_FIELDS.name), ("partition-keys", PARTITION_FIELDS.name)):
        if names := [name.strip() for name in (section.text(key) or "").split(",") if name.strip()]:
            hoodie[option] = ",".join(names)
    for key in section.rest():
        section.refuse(key, "is not there")
    return PipelineTransform(tables, hoodie)


def _projected(projection: str) -> list[str]:
    """The parts of a projection but for the asterisk, which is all columns. Commas in brackets part nothing."""
    parts, depth = [""], 0
    for letter in projection:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "*", r"\*")]


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
