"""Rows that a table cannot take, and the reasons."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.keygen import PartitionPaths, RecordKeys
from hudi_services.sources.ingest.checks import RowChecks


@pytest.mark.parametrize("global_keys", [False, True])
def test_rows_that_share_a_key_and_a_path(global_keys):
    """With a global index they are versions of one row."""
    rows = pa.table({"id": ["1", "1", "2"], "p": ["a/b", "a", "a"], "q": ["c", "b/c", "b/c"]})
    paths = PartitionPaths(("p", "q"), hive_style=False, url_encode=False)
    checks = RowChecks(("id",), RecordKeys(("id",), with_names=False), paths, global_keys)
    reasons = [(flags.tolist(), why) for flags, why in checks.failed(rows) if flags.any()]
    shared = "another row has the same record key, the same path and other values of p, q"
    assert reasons == ([] if global_keys else [([True, True, False], shared)])
