"""Wide events: 59 columns with decimals, structs, lists and long text, half of the rows in one of 60 partitions. The same seed,
the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.shapes import WIDE

_FILES = 4  # files of the first load
_DAYS = [f"2026-{1 + number // 28:02}-{1 + number % 28:02}" for number in range(60)]
_UPDATED, _NEW = 0.072, 0.008  # shares of the rows of the first load, per upsert
_WORDS = 2_000


def make_wide(folder: Path, rows: int, seed: int = 42) -> None:
    """`base-*.parquet` with `rows` events, `upsert-<n>.parquet` with updates of a few keys and new rows, `warm-up.parquet`."""
    if (folder / "done").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    days = np.where(random.random(rows) < 0.5, 0, random.integers(1, len(_DAYS), rows))
    bounds = [rows * part // _FILES for part in range(_FILES + 1)]
    for part, (start, end) in enumerate(pairwise(bounds)):
        base = _events(random, np.arange(start, end), days[start:end], 1_600_000_000_000)
        pq.write_table(base, folder / f"base-{part}.parquet", compression="zstd")
        if part == 0:
            pq.write_table(base.slice(0, 1000), folder / "warm-up.parquet", compression="zstd")
    total = rows
    for batch in range(WIDE.upserts):
        chosen = random.choice(rows, int(rows * _UPDATED), replace=False)
        fresh = np.arange(total, total + int(rows * _NEW))
        total += len(fresh)
        places = np.where(random.random(len(fresh)) < 0.5, 0, random.integers(1, len(_DAYS), len(fresh)))
        moment = 1_700_000_000_000 + batch * 1_000_000_000  # later than all before: every update wins
        table = _events(random, np.append(chosen, fresh), np.append(days[chosen], places), moment)
        pq.write_table(
            table, folder / f"upsert-{batch}.parquet", compression="zstd", row_group_size=max(1, table.num_rows // 2)
        )
    (folder / "done").touch()


def _events(random: np.random.Generator, numbers: np.ndarray, days: np.ndarray, moment: int) -> pa.Table:
    """Events by their number, which decides their key, on some days."""
    count = len(numbers)
    words = pa.array([f"{_letters(number)}" for number in range(_WORDS)])

    def choice(values: Sequence[str] | pa.Array) -> pa.Array:
        return pa.array(values).take(pa.array(random.integers(0, len(values), count)))

    def text(length: int) -> pa.Array:
        return pc.binary_join_element_wise(*(choice(words) for _ in range(length)), " ")

    def numbered(prefix: str, most: int) -> pa.Array:
        return pc.binary_join_element_wise(prefix, pc.cast(pa.array(random.integers(0, most, count)), pa.string()), "-")

    def integers(most: int, kind: pa.DataType) -> pa.Array:
        return pa.array(random.integers(0, most, count)).cast(kind)

    def money(most: float) -> pa.Array:
        return pa.array(np.round(random.uniform(0, most, count), 2))

    def decimals(precision: int, scale: int) -> pa.Array:
        return _decimals(random.integers(0, 10 ** min(precision, 15), count), precision, scale)

    def lists(values: pa.Array) -> pa.Array:
        """Up to three values a row."""
        ends = np.cumsum(random.integers(0, 4, count)).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(np.append(np.int32(0), ends)), _repeated_to(values, int(ends[-1])))

    address = pa.StructArray.from_arrays(
        [choice(words), numbered("zip", 90_000), pa.array(random.uniform(-90, 90, count))], ["city", "zip", "latitude"]
    )
    columns: dict[str, pa.Array] = {
        "account": pc.binary_join_element_wise("account", pc.cast(pa.array(numbers % 20_011), pa.string()), "-"),
        "event": pa.array(numbers),
        "day": pa.array(_DAYS).take(pa.array(days)),
        "ts": pa.array(moment + random.integers(0, 1_000_000_000, count)),
        "amount": money(1_000),
        "fee": money(20),
        "price": decimals(18, 2),
        "tax": decimals(18, 4),
        "discount": decimals(9, 2),
        "balance": decimals(38, 10),
        "rate": decimals(20, 8),
        "total": decimals(18, 2),
        "customer": pa.StructArray.from_arrays(
            [integers(1_000_000, pa.int64()), text(2), address], ["id", "name", "address"]
        ),
        "device": pa.StructArray.from_arrays(
            [choice(("ios", "android", "web")), numbered("v", 40), choice(words)], ["system", "version", "model"]
        ),
        "source": pa.StructArray.from_arrays(
            [choice(("mail", "search", "shop")), numbered("campaign", 500), integers(9, pa.int32())],
            ["channel", "campaign", "clicks"],
        ),
        "tags": lists(choice(words)),
        "scores": lists(pa.array(random.random(count))),
        "items": lists(
            pa.StructArray.from_arrays(
                [numbered("sku", 50_000), integers(9, pa.int32()), decimals(9, 2)], ["sku", "count", "price"]
            )
        ),
        "description": text(30),
        "remark": pc.if_else(pa.array(random.random(count) < 0.3), None, text(15)),
        "link": pc.binary_join_element_wise(*(choice(words) for _ in range(8)), "/"),
        "session": _hex(random, count),
        "mail": pc.binary_join_element_wise(text(1), numbered("at", 1_000_000), "."),
        "phone": numbered("00", 1_000_000_000),
        "address": numbered("10.0", 1 << 24),
    }
    for number in range(10):
        columns[f"class_{number}"] = choice([f"{number}-{_letters(value)}" for value in range(5 * (number + 1))])
    columns |= {f"small_{number}": integers(10 ** (number + 2), pa.int32()) for number in range(7)}
    columns |= {f"large_{number}": integers(10 ** (number + 9), pa.int64()) for number in range(4)}
    columns |= {f"measure_{number}": pa.array(random.normal(size=count)) for number in range(4)}
    columns |= {f"part_{number}": pa.array(random.random(count).astype(np.float32)) for number in range(2)}
    columns |= {f"flag_{number}": pa.array(random.random(count) < 0.2) for number in range(3)}
    columns |= {f"date_{number}": integers(20_000, pa.int32()).cast(pa.date32()) for number in range(2)}
    instants = (pa.array(1_600_000_000_000_000 + random.integers(0, 10**15, count)) for _ in range(2))
    columns |= {f"time_{number}": values.cast(pa.timestamp("us", "UTC")) for number, values in enumerate(instants)}
    return pa.table(columns)


def _letters(number: int) -> str:
    """A word, 4 to 11 letters long."""
    return f"{number * 2_654_435_761 % (1 << 44):x}"[: 4 + number % 8].translate(
        str.maketrans("0123456789", "ghijklmnop")
    )


def _hex(random: np.random.Generator, count: int) -> pa.Array:
    text = random.bytes(16 * count).hex().encode()
    offsets = pa.array(np.arange(0, 32 * count + 1, 32, dtype=np.int32))
    return pa.StringArray.from_buffers(count, offsets.buffers()[1], pa.py_buffer(text))


def _decimals(values: np.ndarray, precision: int, scale: int) -> pa.Array:
    """Decimals of these unscaled values, none below 0: 16 bytes each, the low half first."""
    halves = np.zeros((len(values), 2), dtype=np.int64)
    halves[:, 0] = values
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(values), [None, pa.py_buffer(halves)])


def _repeated_to(values: pa.Array, count: int) -> pa.Array:
    return values.take(pa.array(np.arange(count) % len(values)))
