"""The least and the greatest of texts by Java's order, in which Hudi's bloom indexes compare keys with a file's range.

Java compares UTF-16: what is beyond U+FFFF comes before U+E000. In UTF-8, by which Arrow compares, it comes after: a range by
that order would hide keys of the file from Hudi, which would bring them a second time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_FIRST, _RAISED = 0xEE, 0x10  # first bytes of U+E000 to U+FFFF, here and in no other place; lifted above all others


def key_range(keys: pa.ChunkedArray) -> tuple[str, str]:
    """Least and greatest of utf8 texts without nulls; there is at least one."""
    result = [text for chunk in keys.chunks if len(chunk) for text in _bounds(chunk)]
    return java_least(result), java_greatest(result)


def java_least(texts: Iterable[str]) -> str:
    """Least of a few texts."""
    return min(texts, key=_java)


def java_greatest(texts: Iterable[str]) -> str:
    """Greatest of a few texts."""
    return max(texts, key=_java)


def _java(text: str) -> bytes:
    return text.encode("utf-16-be")


def _bounds(keys: pa.Array) -> tuple[str, str]:
    _, offsets, data = keys.buffers()
    used = np.frombuffer(data or b"", dtype=np.uint8)
    high = (used & 0xFE) == _FIRST  # 0xEE and 0xEF
    if not high.any():
        bounds = pc.min_max(keys)
        return bounds["min"].as_py(), bounds["max"].as_py()
    lifted = pa.py_buffer(used + high * np.uint8(_RAISED))
    bounds = pc.min_max(pa.Array.from_buffers(pa.binary(), len(keys), [None, offsets, lifted], offset=keys.offset))
    return _text(bounds["min"].as_py()), _text(bounds["max"].as_py())


def _text(lifted: bytes) -> str:
    return lifted.replace(b"\xfe", b"\xee").replace(b"\xff", b"\xef").decode()
