"""Which Parquet columns are worth a dictionary: those whose first values repeat."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.dictionary_columns import coded_columns
from hoodie.model.meta_columns import COMMIT_SEQNO, RECORD_KEY

_SAMPLES = (256, 4096)  # rows whose distinct values are counted; the second where the first leaves it open
_UNCLEAR = (0.25, 0.97)  # distinct values per value of the sample, between which the first leaves it open
_SHARE = 0.5  # distinct values per value: above it a dictionary costs more than it saves


def dictionary_columns(sample: pa.Table) -> list[str]:
    """Parquet paths of the leaf columns worth a dictionary, judged by the first rows."""
    chosen = coded_columns(sample.schema)
    head = sample.drop_columns(chosen).slice(0, _SAMPLES[-1])
    for field in head.schema:
        if field.name not in (RECORD_KEY, COMMIT_SEQNO):
            for path, values in _leaf_values(field.name, head[field.name].combine_chunks()):
                if not pa.types.is_boolean(values.type) and _repeats(values):
                    chosen.append(path)
    return chosen


def _repeats(values: pa.Array) -> bool:
    """Whether few of the values differ. Most columns show it at once."""
    for size in _SAMPLES:
        some = values[:size].drop_null()
        share = pc.count_distinct(some).as_py() / max(1, len(some))
        if not _UNCLEAR[0] < share < _UNCLEAR[1]:
            break
    return bool(share <= _SHARE or len(some) == 1)


def _leaf_values(path: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """The Parquet columns of a column and their values."""
    kind = column.type
    if pa.types.is_struct(kind):
        for field, values in zip(kind.fields, column.flatten(), strict=True):
            yield from _leaf_values(f"{path}.{field.name}", values)
    elif pa.types.is_map(kind):
        low, high = column.offsets[0].as_py(), column.offsets[-1].as_py()
        yield from _leaf_values(f"{path}.key_value.key", column.keys[low:high])
        yield from _leaf_values(f"{path}.key_value.value", column.items[low:high])
    elif pa.types.is_list(kind):
        yield from _leaf_values(f"{path}.list.element", column.flatten())
    else:
        yield path, column
