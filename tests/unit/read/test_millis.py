"""Columns of milliseconds in files that label them as microseconds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie import COMPACTION
from hoodie.schema.timestamp_units import with_millis
from tests.support.millis import STAMPS, labelled, mislabelled_table, numbers

RIGHT = {f"k{place}": (stamp,) * 4 for place, stamp in enumerate(STAMPS)}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_numbers_below_a_wrong_label_are_milliseconds(tmp_path, kind):
    table = mislabelled_table(tmp_path, kind)
    assert numbers(table.read()) == RIGHT
    assert table.read().schema.field("at").type == pa.timestamp("ms", "UTC")
    assert table.read()["micros"].cast(pa.int64()).to_pylist() == [*STAMPS]
    late = pc.field("at") > pa.scalar(STAMPS[0], pa.timestamp("ms", "UTC"))
    assert table.read(filter=late)["id"].to_pylist() == ["k1"]
    assert not table.diagnose(deep=True).findings


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_write_keeps_the_milliseconds_of_other_rows(tmp_path, kind):
    table = mislabelled_table(tmp_path, kind)
    schema = table.read().schema
    moment = [1_800_000_000_000]
    row = labelled(["k0"], moment)
    right = with_millis(row.drop(["micros"]), schema, local=False).append_column("micros", row["micros"])
    table.write(right, "upsert")
    expected = RIGHT | {"k0": (1_800_000_000_000,) * 4}
    assert numbers(table.read()) == expected
    if kind == "MERGE_ON_READ":
        table.run(COMPACTION, options={"hoodie.compact.inline.max.delta.commits": 1})
        assert numbers(table.read()) == expected
    assert table.read().schema == schema
