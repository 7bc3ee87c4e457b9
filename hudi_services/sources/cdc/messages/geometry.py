"""Geometries of messages in the bytes in which MySQL stores them: the reference system in four bytes, then the shape in WKB."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def geometries(structs: pa.StructArray) -> pa.Array:
    """Return the bytes of structs with the fields `wkb` and `srid`, which may be null."""
    shapes = pc.struct_field(structs, "wkb").cast(pa.binary())
    systems = np.ascontiguousarray(pc.struct_field(structs, "srid").fill_null(0).to_numpy().astype("<i4"))
    heads = pa.Array.from_buffers(pa.binary(4), len(structs), [None, pa.py_buffer(systems)]).cast(pa.binary())
    return pc.binary_join_element_wise(heads, shapes, b"")
