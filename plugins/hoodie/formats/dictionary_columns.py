"""Text columns that stay dictionaries from the base file that is read to the one that is written.

Most columns of text have few values. To decode them row by row, copy the text, and look each value up again for the next file's
dictionary takes a fifth of the time of merging a file. As dictionaries, their rows are small numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie.model.meta_columns import COMMIT_SEQNO, RECORD_KEY

_CODED = pa.dictionary(pa.int32(), pa.string())
_VALUE_BYTES = (
    3  # bytes a value in the file, below which its dictionary is small: bare text takes four for its length alone
)
_SAMPLES = (256, 4096)  # rows whose distinct values are counted; the second where the first leaves it open
_UNCLEAR = (0.25, 0.97)  # distinct values per value of the sample, between which the first leaves it open
_SHARE = 0.5  # distinct values per value: above it a dictionary costs more than it saves


def coded(schema: pa.Schema, names: Collection[str]) -> pa.Schema:
    """The schema with these columns, of type utf8, as dictionaries, and no others."""
    plain = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in schema]
    return pa.schema([field.with_type(_CODED) if field.name in names else field for field in plain])


def coded_columns(schema: pa.Schema) -> list[str]:
    """The columns that are dictionaries."""
    return [field.name for field in schema if pa.types.is_dictionary(field.type)]


def small_dictionaries(file: pq.ParquetFile, names: Collection[str]) -> list[str]:
    """Text columns, of these, that all row groups of the file keep in small dictionaries."""
    metadata = file.metadata
    if not names or not metadata.num_row_groups:
        return []
    text = {field.name for field in file.schema_arrow if field.type == pa.string() and field.name in names}
    first = metadata.row_group(0)
    places = [place for place in range(metadata.num_columns) if first.column(place).path_in_schema in text]
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [
        first.column(place).path_in_schema
        for place in places
        if all(_is_small(group.column(place)) for group in groups)
    ]


def one_dictionary(rows: pa.Table) -> pa.Table:
    """Each dictionary column with one dictionary, of just the values that rows have.

    Parquet's writer gives up a dictionary that changes within a row group; and a value whose rows were updated or deleted must
    not be in the next file.
    """
    rows = rows.unify_dictionaries()
    for place, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            rows = rows.set_column(place, field, _without_unused(rows.column(place)))
    return rows


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


def _is_small(chunk: pq.ColumnChunkMetaData) -> bool:
    return bool(chunk.has_dictionary_page and chunk.total_uncompressed_size <= _VALUE_BYTES * chunk.num_values)


def _without_unused(column: pa.ChunkedArray) -> pa.ChunkedArray:
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    if not chunks:
        return column
    values = chunks[0].dictionary
    used = np.zeros(len(values), dtype=bool)
    for chunk in chunks:
        used[chunk.indices.drop_null().to_numpy()] = True
    if used.all():
        return column
    numbers = pa.array((np.cumsum(used) - 1).astype(np.int32))
    used_values = values.filter(pa.array(used))
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pc.take(numbers, chunk.indices), used_values) for chunk in chunks]
    )


def _repeats(values: pa.Array) -> bool:
    """Return whether few of the values differ. Most columns show it at once."""
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
