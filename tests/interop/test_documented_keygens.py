"""The examples of Hudi's documentation, by Hudi itself."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.support.documented_keygens import EXAMPLES

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("which", ["hudi12", "hudi15"])
def test_hudi_makes_these_folders(tmp_path, recorded, which):
    hudi = recorded(which)
    found, wanted = {}, {}
    for place, example in enumerate(EXAMPLES):
        values = list(example.made)
        path = tmp_path / str(place)
        options = {
            "hoodie.table.name": "t",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "at",
            "hoodie.datasource.write.precombine.field": "id",
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
            "hoodie.metadata.enable": "false",
            **example.full_options,
        }
        hudi.write(path, pa.table({"id": list(range(len(values))), "at": values}), options, "overwrite")
        hudi.table(path)
        folders = {file.parent.relative_to(path).as_posix() for file in path.rglob("*.parquet")}
        found[example.name], wanted[example.name] = folders, set(example.made.values())
    assert found == wanted
