"""Hudi reads numbers below a wrong label as we do."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.support.millis import mislabelled_table

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_hudi_takes_the_same_numbers_as_milliseconds(hudi12, tmp_path, kind):
    """Nested columns need Hudi's bundle in the class loader of Spark's Parquet, where the peer does not have it."""
    ours = mislabelled_table(tmp_path / "t", kind, ("id", "at", "micros")).read()
    theirs = hudi12.read(tmp_path / "t")
    for name in ("at", "micros"):
        found, expected = (
            dict(zip(rows["id"].to_pylist(), rows[name].cast(pa.timestamp("us", "UTC")).to_pylist(), strict=True))
            for rows in (ours, theirs)
        )
        assert found == expected
