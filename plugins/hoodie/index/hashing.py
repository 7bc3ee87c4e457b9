"""The metadata of consistent hashing: which file group of a partition a hash belongs to (`hoodie.index.bucket.engine`).

Nodes lie on a ring of hashes; a key belongs to the first node that is not before its hash, and each node is one file group,
`<prefix>-0`. Source: Hudi's `HoodieConsistentHashingMetadata`; as measured with 1.2.0 (decision 55).
"""

from __future__ import annotations

import hashlib
import json
import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.cache import cached_property
from hoodie.errors import CorruptTableError
from hoodie.formats.xxhash import xxhash32
from hoodie.index.buckets import hashed_values
from hoodie.timeline.name_checks import named_part, reading

FIRST_VERSION = "00000000000000"  # the instant of the metadata that the first write to a partition makes
_MOST = 0x7FFF_FFFF  # the greatest hash
_NORMAL = "NORMAL"


@dataclass(frozen=True)
class Node:
    """The end of a range of hashes, itself included, and the file group of that range."""

    value: int
    prefix: str

    @property
    def file_id(self) -> str:
        return f"{self.prefix}-0"


@dataclass(frozen=True)
class HashingMetadata:
    """The nodes of one partition, by their values, since `instant`; `count` is how many it had at first."""

    partition: str
    instant: str
    count: int
    sequence: int  # how often it was resized
    nodes: tuple[Node, ...]

    @staticmethod
    def first(partition: str, count: int) -> HashingMetadata:
        """The metadata of a new partition: equal ranges. All writers make the same."""
        step = (_MOST + count - 1) // count
        ends = [min(step * number, _MOST) for number in range(count + 1)]
        nodes = tuple(Node(end, _named(partition, begin, end)) for begin, end in pairwise(ends))
        return HashingMetadata(partition, FIRST_VERSION, count, 0, nodes)

    @staticmethod
    def decode(data: bytes, where: str) -> HashingMetadata:
        """Raises CorruptTableError, UnsafePathError."""
        with reading(where, "consistent hashing"):
            body = json.loads(data)
            nodes = [
                Node(int(node["value"]), named_part(node["fileIdPrefix"], where))
                for node in body["nodes"]
                if node.get("tag", _NORMAL) == _NORMAL
            ]
            values = [node.value for node in nodes]
            if (
                not nodes
                or len(nodes) < len(body["nodes"])
                or len({*values}) < len(nodes)
                or not all(n.prefix for n in nodes)
            ):
                raise CorruptTableError(
                    f"Invalid consistent-hashing metadata for {where}",
                    found=f"{len(body['nodes'])} nodes, some with the same value, without a file group, or not in force",
                    fix="nothing was written; restore the file from a backup",
                )
            nodes.sort(key=lambda node: node.value)
            return HashingMetadata(
                body["partitionPath"], body["instant"], int(body["numBuckets"]), int(body["seqNo"]), tuple(nodes)
            )

    def encode(self) -> bytes:
        """As Hudi writes it, to the byte."""
        nodes = ", ".join(
            f'{{\n    "value" : {node.value},\n    "fileIdPrefix" : "{node.prefix}",\n    "tag" : "{_NORMAL}"\n  }}'
            for node in self.nodes
        )
        fields = [
            '"version" : 0',
            f'"partitionPath" : {json.dumps(self.partition, ensure_ascii=False)}',
            f'"instant" : "{self.instant}"',
            f'"numBuckets" : {self.count}',
            f'"seqNo" : {self.sequence}',
            f'"nodes" : [ {nodes} ]',
        ]
        return ("{\n  " + ",\n  ".join(fields) + "\n}").encode()


def _named(partition: str, begin: int, end: int) -> str:
    """Java's `UUID.nameUUIDFromBytes` of a range: so writers at once make one file group of it."""
    digest = hashlib.md5(struct.pack(">qq", begin, end) + partition.encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))


@dataclass(frozen=True)
class Rings:
    """The rings of the partitions of a write, in their order; the columns `fields`, some of `key_fields`, decide the bucket of
    a key. Keeps `Homes`: nodes are numbered ring by ring."""

    rings: tuple[HashingMetadata, ...]
    fields: tuple[str, ...]
    key_fields: tuple[str, ...]

    def numbers(self, places: np.ndarray, keys: pa.ChunkedArray) -> np.ndarray:
        """See `Homes`."""
        hashes = self._hashes(keys)
        nodes: np.ndarray = np.searchsorted(self._values, places << 31 | hashes)
        past = nodes >= self._begins[places + 1]
        nodes[past] = self._begins[places[past]]  # a ring has no end
        return nodes

    def number_of(self, place: int, file_id: str) -> int | None:
        """See `Homes`."""
        return self._numbers.get((place, file_id))

    def home(self, number: int) -> tuple[int, str]:
        """See `Homes`."""
        place = int(np.searchsorted(self._begins, number, side="right")) - 1
        return place, self.rings[place].nodes[number - int(self._begins[place])].file_id

    def _hashes(self, keys: pa.ChunkedArray) -> np.ndarray:
        hashes = np.empty(len(keys), dtype=np.uint32)
        for rows, values in hashed_values(keys, self.fields, self.key_fields):
            hashes[rows] = xxhash32(_joined(values))
        result: np.ndarray = hashes.astype(np.int64) & _MOST
        return result

    @cached_property
    def _begins(self) -> np.ndarray:
        """The first number of each ring, and how many there are."""
        return np.cumsum([0, *(len(ring.nodes) for ring in self.rings)])

    @cached_property
    def _values(self) -> np.ndarray:
        """All nodes' values, each with its partition's place before it: in order."""
        result = [place << 31 | node.value for place, ring in enumerate(self.rings) for node in ring.nodes]
        return np.array(result, dtype=np.int64)

    @cached_property
    def _numbers(self) -> dict[tuple[int, str], int]:
        nodes = ((place, node.file_id) for place, ring in enumerate(self.rings) for node in ring.nodes)
        return {node: number for number, node in enumerate(nodes)}


def _joined(values: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """As Java joins texts: null is the word."""
    texts = [pc.fill_null(value, "null") for value in values]
    if len(texts) == 1:
        return texts[0]
    joined = pc.binary_join_element_wise(*texts, "")
    return joined if isinstance(joined, pa.ChunkedArray) else pa.chunked_array([joined])
