"""Merge rules that the library does not have are refused by name."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, UnsupportedTableError
from tests.support.tables import batch, create


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_an_ordering_field_inside_a_struct_is_refused(tmp_path, kind):
    of_kind = {"hoodie.table.type": kind}
    with pytest.raises(ConfigError, match=r"'of\.ts' is inside a struct"):
        create(tmp_path / "new", **of_kind, **{"hoodie.table.ordering.fields": "of.ts"})
    assert not (tmp_path / "new").exists()
    rows = batch([("a", "p", 1, 1)])
    rows = rows.append_column("of", pa.StructArray.from_arrays([pa.array([1])], ["ts"]))
    table = create(tmp_path / "t", **of_kind)
    table.write(rows)
    table.write(rows)
    properties = tmp_path / "t" / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("ordering.fields=ts", "ordering.fields=of.ts"))
    theirs = HoodieTable.open(str(tmp_path / "t"), engine=LocalEngine(1))
    with pytest.raises(UnsupportedTableError, match=r"of\.ts .*inside a struct"):
        theirs.write(rows)
    assert theirs.read(read_optimized=True).num_rows == 1
    if kind == "MERGE_ON_READ":
        with pytest.raises(UnsupportedTableError, match=r"of\.ts .*inside a struct"):
            theirs.read()
    else:
        assert theirs.read().num_rows == 1
