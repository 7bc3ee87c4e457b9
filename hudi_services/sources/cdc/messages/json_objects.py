"""Objects in JSON as an Arrow struct of known types: Arrow's reader for all at once, Python for those that it refuses.

Arrow's reader is strict enough where this module looks after it: it ends the process at deep values and at a null in place of
an object, reads several objects of one text as several rows, does not check UTF-8, and takes floats that have no such number.
So each text is put into an object of its own (`{"m":TEXT}`), a row must come out for each, and what Arrow cannot take as it is
written is read in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from hoodie.schema.nested import one_chunk
from hudi_services.sources.cdc.messages.isolation import isolate
from hudi_services.sources.cdc.messages.json_members import check_type, check_value, narrowed
from hudi_services.sources.cdc.messages.json_values import FaultError, parsed, value_of

_MEMBER = "m"
_BLOCK = 32 * 1024 * 1024  # bytes of a part
_READ = 1024 * 1024  # bytes that Arrow parses at once, which the processor's cache holds
_FEW = 256  # texts that are read in Python rather than halved again
_LEVELS = 100
_SHORT = 4_000  # bytes, which cannot hold enough levels to end the process
_SIGNS = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]')
_WHOLE_BELOW = {pa.float32(): 2.0**24, pa.float64(): 2.0**53}
"""Whole numbers below are the same as floats. Greater ones are looked at one by one."""


class JsonObjects:
    """Reads texts as structs of one type. `errors` gets the place of each text that is no such object, and the reason."""

    def __init__(
        self,
        kind: pa.StructType,
        errors: dict[int, str],
        *,
        lenient: bool = False,
        rows: Sequence[str] | None = None,
        unknown: str = "infer",
        end: bytes = b"",
    ) -> None:
        """`lenient`: columns of text take numbers, true, false, objects and arrays as they are written.

        `rows` are the members that hold rows (none: the object itself). Then `read` raises UnknownColumnError for a member of a
        row that the type lacks. Other unknown members are left out.

        `unknown` is what Arrow does with members that the type lacks: `infer` refuses a name that is twice in one of them,
        `ignore` may overlook it, for texts that are read again. `error` refuses the members.

        `end` is put behind each text.
        """
        self._kind = kind
        self._errors = errors
        self._lenient = lenient
        self._rows = rows
        self._unknown = unknown
        self._end = end
        self._slow = _has(pa.types.is_map, kind)
        self._decimals = _has(pa.types.is_decimal, kind)

    def read(self, texts: pa.Array, places: np.ndarray) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """Yield structs and the places of their texts.

        `texts` are an array of binary without nulls, of which each begins with the value and ends with a brace that closes the
        object around it: `{"op":"c"}}`. `places` are their numbers.
        """
        for part in _parts(texts):
            for rows, structs in isolate(
                part, lambda rows: self._fast(texts, rows), lambda rows, _: self._rest(texts, places, rows), _FEW
            ):
                yield places[rows], structs

    def read_certain(self, texts: pa.Array, places: np.ndarray) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """Yield structs as `read` does, but not of texts that Arrow does not take."""
        for part in _parts(texts):
            few = max(_FEW, len(part) // 8)
            for rows, structs in isolate(part, lambda rows: self._fast(texts, rows), _nothing, few):
                yield places[rows], structs

    def _fast(self, texts: pa.Array, rows: np.ndarray) -> pa.StructArray:
        """Raises ValueError or an error of Arrow if one of them is not as the type says, or may not be."""
        if self._slow:
            raise ValueError("maps")
        chosen = texts.slice(rows[0], len(rows))  # rows are neighbours
        wrapped = pc.binary_join_element_wise(pa.scalar(b'{"m":'), chosen, pa.scalar(self._end + b"\n"), pa.scalar(b""))
        wrapped.cast(pa.string())  # raises for what is no UTF-8
        if _may_be_deep(chosen):
            raise ValueError("deep values")
        first, last = wrapped.offset, wrapped.offset + len(wrapped)
        ends = np.frombuffer(wrapped.buffers()[1], np.int32)[[first, last]]
        data = wrapped.buffers()[2].slice(int(ends[0]), int(ends[1] - ends[0]))
        longest = pc.max(pc.binary_length(wrapped)).as_py()  # no more than two blocks may share an object
        table = pa_json.read_json(
            pa.BufferReader(data),
            read_options=pa_json.ReadOptions(block_size=max(_READ, longest), use_threads=False),
            parse_options=pa_json.ParseOptions(
                explicit_schema=pa.schema([(_MEMBER, self._kind)]),
                unexpected_field_behavior=self._unknown,
            ),
        )
        if table.num_rows != len(rows):
            raise ValueError("several objects in one text")
        structs = one_chunk(table[_MEMBER])
        if _levels(structs.type) > _LEVELS:
            raise ValueError("deep values in members that the type lacks")
        if self._rows is not None:
            for parsed_type, known in _rows_of(structs.type, self._kind, self._rows):
                check_type(parsed_type, known)
        structs = narrowed(structs, self._kind)
        if self._decimals:
            structs.validate(full=True)  # the reader does not check the precision of a number that it rescales
        if _has_great(structs):
            raise ValueError("floats that may be others than the text says")
        return structs

    def _rest(
        self, texts: pa.Array, places: np.ndarray, rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """Read in Python. A text that is no such object is an error."""
        values, row_numbers = [], []
        for row, text in zip(rows, texts.slice(rows[0], len(rows)).to_pylist(), strict=True):
            try:
                if is_deep(text):
                    raise FaultError(f"values are nested more than {_LEVELS} levels deep")
                value = parsed(b'{"m":' + text + self._end).get(_MEMBER)
                self._check_rows(value)
                values.append(value_of(value, self._kind, "", lenient=self._lenient))
                row_numbers.append(row)
            except FaultError as error:
                self._errors[int(places[row])] = str(error)
        if row_numbers:
            yield np.array(row_numbers), pa.array(values, self._kind)

    def _check_rows(self, value: Any) -> None:
        if self._rows is None or not isinstance(value, dict):
            return
        for name in self._rows or ("",):
            kind = self._kind.field(name).type if name else self._kind
            check_value(value.get(name) if name else value, kind)


def _rows_of(
    objects: pa.StructType, kind: pa.StructType, names: Sequence[str]
) -> Iterator[tuple[pa.DataType, pa.DataType]]:
    if not names:
        yield objects, kind
    for name in names:
        yield objects.field(name).type, kind.field(name).type


def _nothing(rows: np.ndarray, error: Exception) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
    yield from ()


def _parts(texts: pa.Array) -> Iterator[np.ndarray]:
    """Neighbours that make a block together."""
    sizes = np.cumsum(pc.binary_length(texts).to_numpy().astype(np.int64))
    block = (sizes - 1) // _BLOCK if len(sizes) else sizes
    cuts = np.flatnonzero(np.diff(block)) + 1
    yield from (part for part in np.split(np.arange(len(texts)), cuts) if len(part))


def _may_be_deep(texts: pa.Array) -> bool:
    """True if a long text is deeper than `_LEVELS`."""
    long = texts.filter(pc.greater(pc.binary_length(texts), _SHORT))
    if not len(long):
        return False
    counts = pc.add(pc.count_substring(long, b"{"), pc.count_substring(long, b"["))
    if not pc.any(pc.greater(counts, _LEVELS)).as_py():
        return False
    return any(map(is_deep, long.filter(pc.greater(counts, _LEVELS)).to_pylist()))


def _levels(kind: pa.DataType) -> int:
    return max((1 + _levels(kind.field(place).type) for place in range(kind.num_fields)), default=0)


def is_deep(text: bytes) -> bool:
    """Return True for values that are nested too deep to be read."""
    if text.count(b"{") + text.count(b"[") <= _LEVELS:
        return False
    level = deepest = 0
    for sign in _SIGNS.findall(text):
        level += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(sign, 0)
        deepest = max(deepest, level)
    return deepest > _LEVELS


def _has_great(column: pa.Array) -> bool:
    """True if there are floats that may say another number than the text: great ones, and those without a number."""
    kind = column.type
    if pa.types.is_floating(kind):
        exact = pc.less(pc.abs(column), pa.scalar(_WHOLE_BELOW[kind], kind))
        return not pc.all(exact, min_count=0).as_py()
    if pa.types.is_struct(kind):
        return any(_has_great(part) for part in column.flatten())
    return pa.types.is_list(kind) and _has_great(column.flatten())


def _has(is_it: Callable[[pa.DataType], bool], kind: pa.DataType) -> bool:
    """True for a type that is so, or has such a type inside."""
    return is_it(kind) or any(_has(is_it, kind.field(place).type) for place in range(kind.num_fields))
