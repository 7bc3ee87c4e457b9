"""Some rows of a table, as it is or was: as many as are asked for are read, and no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from hoodie.model.time import Time
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import ReadPlan, plan_read
from hoodie.read.query import Query, Snapshot
from hoodie.storage.base import Storage
from hudi_services.operations.inspect.excluded_columns import kept_columns
from hudi_services.operations.inspect.page import Column, Facts, Listing, Page
from hudi_services.operations.inspect.table_look import Look
from hudi_services.runtime.json_values import is_number, told_values


def rows(look: Look, limit: int, as_of: str | None, within: str | None, without: Sequence[str], width: int) -> Page:
    """The first `limit` rows, file slice by file slice, as of `as_of` or now, of the partition `within` or of all; without some
    columns, which are not read. Values of more than `width` characters are cut.

    A file slice with logs is merged as a whole, in bounded memory. Raises TimeTravelError, ConfigError for what is no
    partition and where no column is left.
    """
    moment = str(look.moment("--as-of", as_of)) if as_of is not None else None
    shown_columns = kept_columns(look.state, without, Time(moment) if moment is not None else None)
    within = look.partition(within) if within is not None else None
    chosen = [within] if within is not None else None
    plan = plan_read(look.state, Query(shown_columns.columns, None, Snapshot(moment), partitions=chosen))
    result = _first(plan, look.storage, limit)
    names = result.column_names
    lines = list(zip(*(told_values(column) for column in result.columns), strict=True))
    return Page(
        {
            "table": look.state.properties.name,
            "as_of": moment,
            "partition": within,
            "columns": [{"name": column.name, "type": str(column.type)} for column in result.schema],
            "without": shown_columns.hidden,
            "rows": [[json_value(value, width) for value in line] for line in lines],
            "more": result.num_rows == limit,
        },
        [
            Facts([("as of", moment or "now")]),
            Listing(
                [Column(column.name, column.name, right=is_number(column.type), rank=0) for column in result.schema],
                [dict(zip(names, (cut(value, width) for value in line), strict=True)) for line in lines],
                empty="none",
            ),
        ],
    )


def _first(plan: ReadPlan, storage: Storage, limit: int) -> pa.Table:
    task = ReadSlice(storage, plan.of_slice)
    batches, remaining = [plan.schema.empty_table()], limit
    for batch in _batches(task, plan):
        batches.append(batch.slice(0, remaining))
        remaining -= batches[-1].num_rows
        if not remaining:
            break
    return pa.concat_tables(batches)


def _batches(task: ReadSlice, plan: ReadPlan) -> Iterator[pa.Table]:
    for file_slice in plan.slices:
        yield from task.batches(file_slice)


def json_value(value: object, width: int) -> Any:
    """The value as by `cut`; but lists, structs and maps that are not cut stay what they are."""
    is_whole = isinstance(value, list | dict) and len(_text(value)) <= width
    return json.loads(_text(value)) if is_whole else cut(value, width)


def _text(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def cut(value: object, width: int) -> Any:
    """A value as a page can show it: null, text, numbers and truth values stay what they are; bytes are hexadecimal,
    all else is text. Text is cut at `width` characters."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if len(str(value)) <= 15 else str(value)  # JavaScript holds no longer number as it is
    if isinstance(value, bytes):
        text = value[: width // 2 + 1].hex()
        return text if len(text) <= width else f"{text[:width]}…"
    text = _text(value) if isinstance(value, list | dict | tuple) else str(value)
    return text if len(text) <= width else f"{text[:width]}…"
