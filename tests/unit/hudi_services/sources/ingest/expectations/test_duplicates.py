"""Values that several rows have, over splits and batches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError
from hudi_services.sources.ingest.expectations.duplicates import Repeated, check_unique_columns, tally_and_repeated
from hudi_services.sources.ingest.expectations.tally import Tallying


@dataclass(frozen=True)
class Rows:
    """A split of these rows."""

    rows: pa.Table
    size: int = 1 << 30
    files: int = 0

    def batches(self):
        yield from self.rows.to_batches(max_chunksize=2)

    def narrowed(self, _columns):
        return None


def repeated(columns, *tables):
    splits = [Rows(table) for table in tables]
    tallies, found = tally_and_repeated(splits, Tallying((), tables[0].schema), columns, LocalEngine(2))
    assert sum(each.rows for each in tallies) == sum(table.num_rows for table in tables)
    return found


@pytest.mark.parametrize(
    "values",
    [[1, 2], ["a", "b"], [1.5, 2.5], [date(2026, 1, 1), date(2026, 1, 2)], [Decimal("1.5"), Decimal(2)], [True, False]],
)
def test_types(values):
    rows = pa.table({"a": values})
    assert repeated(("a",), rows) == Repeated()
    found = repeated(("a",), rows, rows)
    assert (found.values, found.rows) == (2, 4)


def test_columns_together_and_nulls():
    rows = pa.table({"a": [1, 1, None, None], "b": ["x", "y", "z", "z"]})
    assert repeated(("a", "b"), rows) == Repeated()
    assert repeated(("a",), rows) == Repeated(1, 2, "a 1")
    assert repeated(("b",), rows) == Repeated(1, 2, "b 'z'")
    joined = pa.table({"a": ["x", "x\x1fy"], "b": ["y\x1fz", "z"]})
    assert repeated(("a", "b"), joined) == Repeated(), "equal text together, and different values"


def test_fields_of_structs():
    rows = pa.table({"meta": [{"id": 1, "of": [1]}, {"id": 1, "of": [2]}, {"id": 2, "of": [1]}, None, None]})
    check_unique_columns(["meta.id"], rows.schema)
    assert repeated(("meta.id",), rows) == Repeated(1, 2, "meta.id 1")
    for name in ("meta", "meta.of", "meta.x", "x"):
        with pytest.raises(ConfigError, match=f"`expect.unique` names the column '{name}', which cannot be compared"):
            check_unique_columns([name], rows.schema)
