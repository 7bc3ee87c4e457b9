"""The registry's sections of options, the options that the library declares, and what the guide says of both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from hoodie.config.catalogue import catalogue
from hoodie.config.groups import GROUPS
from hudi_services.cli.commands.options import option_lines
from hudi_services.entry.dag import RunRequest
from hudi_services.registry.load import Reading, read_registry
from hudi_services.registry.options import wrong_options
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from hudi_services.sources.ingest.entry import INGEST

DOCS = Path(__file__).parents[4] / "docs"
PAGES_WITH_OPTIONS = (
    "reference/options.md",
    "reference/spark-source.md",
    "reference/tables-yaml.md",
    *(f"how-to/{name}.md" for name in ("bootstrap", "clean", "compact", "hive", "keys-and-partitions", "virtual-keys")),
    *(f"concepts/{name}.md" for name in ("failures", "merging")),
)


def registry_keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = list(models_in(field.annotation))
        if not inner:
            yield prefix + (field.alias or name)
        for kind in inner:
            yield from registry_keys(kind, f"{prefix}{field.alias or name}.")


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a key may hold, one or a union; not those that are values of a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, Annotated):
        for each in get_args(annotation):
            yield from models_in(each)


def told_keys() -> set[str]:
    """The keys in the first column of the tables of two pages. `.name` goes on from the key before it."""
    found: set[str] = set()
    for page in ("reference/tables-yaml.md", "how-to/load-files.md"):
        for table in (DOCS / page).read_text().split("| key | what it says |")[1:]:
            found |= _keys_of(table.partition("\n\n")[0].lstrip("\n"))
    return found


def _keys_of(table: str) -> set[str]:
    found: set[str] = set()
    for line in table.splitlines()[1:]:
        last = ""
        for name in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
            last = f"{last.rpartition('.')[0]}{name}" if name.startswith(".") else name
            found.add(last)
    return found


def test_the_guide_tells_every_key_of_the_registry():
    missing = set(registry_keys(table_model(ENTRIES))) - told_keys()
    assert missing == set()


def test_the_guide_tells_no_other_key():
    assert told_keys() - set(registry_keys(table_model(ENTRIES))) <= {"sync"}


def test_the_command_options_tells_every_declared_key():
    told = {name for line in option_lines() for name in (line.key, *line.aliases)}
    declared = {name for group in GROUPS for key in group.keys for name in key.names}
    assert declared <= told


def test_the_docs_name_options_that_are_there():
    pages = "\n".join((DOCS / page).read_text() for page in PAGES_WITH_OPTIONS)
    named = set(re.findall(r"`(hoodie\.(?!hoodie|spark|Hoodie|config|services)[a-z_]+(?:\.[a-z_A-Z]+)+)", pages))
    declared = {name for group in GROUPS for key in group.keys for name in key.names}
    library = {"hoodie.properties"}
    assert named - declared - set(catalogue()) - library == set()


@pytest.mark.parametrize(
    ("section", "name", "value", "message"),
    [
        ("ingest", "hoodie.clean.automatic", "true", None),
        ("ingest", "hoodie.clean.commits.retained", "3", None),
        ("ingest", "hoodie.metrics.on", "true", None),
        ("ingest", "hoodie.bucket.index.partition.expressions", "x,8", "is refused"),
        ("ingest", "hoodie.datasource.write.operation", "insert", "is set by the key 'source.operation'"),
        ("ingest", "hoodie.clean.automatical", "true", "is not known here"),
        ("clean", "hoodie.bucket.index.partition.expressions", "x,8", None),
        ("clean", "hoodie.clean.partition.filter.regex", "x", "other files would be deleted"),
        ("clean", "hoodie.parquet.max.file.size", "1", "has no effect here: move it to the table's 'ingest.hoodie'"),
        ("ingest", "hoodie.datasource.write.partitionpath.urlencode", "true", "move it to the table's 'hoodie'"),
    ],
)
def test_a_section_takes_the_options_of_its_service(section, name, value, message):
    found = [text for _, text in wrong_options({section: {"hoodie": {name: value}}})]
    assert [message in text for text in found] == ([True] if message else [])


NEW, OLD = "hoodie.clean.commits.retained", "hoodie.cleaner.commits.retained"


def read(tmp_path: Path, text: str) -> Reading:
    file = tmp_path / "tables.yaml"
    file.write_text(text)
    return read_registry(file)


@pytest.mark.parametrize("names", [(NEW, OLD), (OLD, NEW)])
def test_a_table_replaces_an_option_of_the_defaults_under_any_name(tmp_path: Path, names: tuple[str, str]) -> None:
    text = (
        f"defaults: {{clean: {{hoodie: {{{names[0]}: 100}}}}}}\n"
        f"tables:\n- {{name: a, base_path: /lake/a, clean: {{hoodie: {{{names[1]}: 5}}}}}}\n"
    )
    reading = read(tmp_path, text)
    assert (reading.mistakes, reading.registry.tables[0].section("clean").hoodie) == ((), {names[1]: "5"})


def test_two_names_of_one_option_are_a_mistake(tmp_path: Path) -> None:
    """Each run would refuse them."""
    text = f"tables:\n- {{name: a, base_path: /lake/a, clean: {{hoodie: {{{OLD}: 5, {NEW}: 7}}}}}}\n"
    (mistake,) = read(tmp_path, text).mistakes
    assert (mistake.key, mistake.message) == (f"a.clean.hoodie.{OLD}", f"is another name of {NEW!r}: keep one of them")


def test_an_option_of_a_service_replaces_that_of_the_table_under_any_name(tmp_path: Path) -> None:
    """The two were handed on side by side, and the run refused them."""
    new, old = "hoodie.clean.failed.writes.policy", "hoodie.cleaner.policy.failed.writes"
    text = (
        "tables:\n- name: a\n  base_path: /lake/a\n  keys: {record_key: [id]}\n  source: {path: /data/a, format: csv}\n"
        f"  hoodie: {{{new}: EAGER}}\n  ingest: {{hoodie: {{{old}: LAZY}}}}\n"
    )
    reading = read(tmp_path, text)
    assert reading.mistakes == ()
    options = INGEST.called_with(reading.registry.tables[0], RunRequest()).options
    assert {name: value for name, value in options.items() if name in (new, old)} == {old: "LAZY"}
