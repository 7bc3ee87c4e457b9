"""The examples of Hudi's documentation work as they are written, with the results of Hudi's code (tests/interop holds them)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.keys.table import CREATE_KEYS
from hoodie.keygen import key_generator
from tests.support.documented_keygens import EXAMPLES, P

KEYGEN = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "at",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
}


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_examples_of_the_documentation(example, version):
    given = {**KEYGEN, **example.full_options, "hoodie.write.table.version": version}
    _, paths = key_generator(new_table_properties(resolve(given, CREATE_KEYS)), 2026)
    assert paths.of(pa.table({"at": list(example.made)})).to_pylist() == list(example.made.values())


@pytest.mark.parametrize("delimiter", ["", " ", ",", " , "])
def test_a_delimiter_without_its_spaces_is_a_comma_when_nothing_is_left(delimiter):
    example = EXAMPLES[4]
    given = {**KEYGEN, **example.full_options, P + "input.dateformat.list.delimiter.regex": delimiter}
    _, paths = key_generator(new_table_properties(resolve(given, CREATE_KEYS)), 2026)
    assert paths.of(pa.table({"at": list(example.made)})).to_pylist() == list(example.made.values())
