"""Consistent hashing: rings and their files; the values are of tables that Hudi 1.2.0 wrote, one of them resized."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from hoodie.errors import CorruptTableError, UnsafePathError
from hoodie.index.hashing import HashingMetadata, Rings

# partition -> the beginning of the file group's id -> keys that Hudi has put there
FIRST = {
    "part=p": {
        "b363d018": [f"{'x' * 11}k51é", f"{'x' * 14}k54é", f"{'x' * 21}k", f"{'x' * 36}k"],
        "ee5908fc": [f"{'x' * 8}k48é", f"{'x' * 24}k", f"{'x' * 39}k"],
        "55ed9cf7": ["xxxk", f"{'x' * 9}k", f"{'x' * 18}k", f"{'x' * 33}k"],
        "4d71c9d1": ["xxk42é", "xxxxxxk", f"{'x' * 12}k", f"{'x' * 17}k57é", f"{'x' * 27}k"],
    },
    "part=ü x": {
        "314d7d42": ["xxxxxk45é", f"{'x' * 30}k", f"{'x' * 35}k"],
        "af39cb4d": ["k40é", f"{'x' * 10}k", f"{'x' * 15}k55é", f"{'x' * 20}k", f"{'x' * 25}k"],
        "573561bf": ["xxxxxk", f"{'x' * 10}k50é", f"{'x' * 15}k"],
        "b7ac4c65": ["k"],
    },
}
WRITTEN = """{
  "version" : 0,
  "partitionPath" : "part=ü x",
  "instant" : "00000000000000",
  "numBuckets" : 4,
  "seqNo" : 0,
  "nodes" : [ {
    "value" : 536870912,
    "fileIdPrefix" : "314d7d42-c385-37e1-a79a-7092d31ac34f",
    "tag" : "NORMAL"
  }, {
    "value" : 1073741824,
    "fileIdPrefix" : "af39cb4d-41b4-395d-97bb-effa418994b5",
    "tag" : "NORMAL"
  }, {
    "value" : 1610612736,
    "fileIdPrefix" : "573561bf-cd98-3366-99cd-06c601e0087e",
    "tag" : "NORMAL"
  }, {
    "value" : 2147483647,
    "fileIdPrefix" : "b7ac4c65-926f-316d-9260-a785ec579a17",
    "tag" : "NORMAL"
  } ]
}"""
RESIZED = {  # part=p after a split of each of the four
    268435455: ("f26f0e24", [f"{'x' * 21}k", f"{'x' * 11}k51é", "k_a18", "k_a16"]),
    536870912: ("40b689af", [f"{'x' * 36}k", "k_a4", "k_a17", "k_a6", "k_a8", "k_a3"]),
    805306368: ("62c7b33b", [f"{'x' * 39}k", f"{'x' * 24}k", f"{'x' * 8}k48é"]),
    1073741824: ("e40508d2", ["k_a11", "k_a12", "k_a14"]),
    1342177280: ("11c562ae", [f"{'x' * 9}k", f"{'x' * 18}k", "k_a19", "k_a15", "k_a10", "k_a1", "k_a5"]),
    1610612736: ("46f40c1b", [f"{'x' * 33}k", "xxxk", "k_new", "k_a2"]),
    1879048191: ("1cfd49ec", ["xxk42é", "k_a13", "k_a0"]),
    2147483647: ("6a5aea91", ["ins1", f"{'x' * 17}k57é", f"{'x' * 27}k", "xxxxxxk", "k_a7", "k_a9"]),
}


def resized(nodes):
    body = {
        "partitionPath": "part=p",
        "instant": "20261123154734481",
        "numBuckets": 4,
        "seqNo": 1,
        "version": 0,
        "more": 1,
    }
    listed = [{"value": value, "fileIdPrefix": name, "tag": "NORMAL"} for value, (name, _) in nodes.items()]
    return json.dumps(body | {"nodes": listed}).encode()


def places(rings, partitions, rows):
    """The partition and the first part of the file id of each (partition, key)."""
    where = np.array([partitions.index(partition) for partition, _ in rows], dtype=np.int64)
    numbers = rings.numbers(where, pa.chunked_array([pa.array([key for _, key in rows])]))
    homes = [rings.home(int(number)) for number in numbers]
    assert [rings.number_of(*home) for home in homes] == numbers.tolist()
    return [(partitions[place], file_id.partition("-")[0]) for place, file_id in homes]


def test_keys_of_several_partitions_are_where_hudi_has_them():
    partitions = list(FIRST)
    rings = Rings(tuple(HashingMetadata.first(each, 4) for each in partitions), ("id",), ("id",))
    told = {
        (partition, key): (partition, group)
        for partition, of in FIRST.items()
        for group, keys in of.items()
        for key in keys
    }
    rows = sorted(told, key=lambda row: row[1])
    assert places(rings, partitions, rows) == [told[row] for row in rows]
    assert rings.number_of(0, rings.home(4)[1]) is None, "a node of the other partition"


def test_keys_of_a_ring_that_was_resized():
    ring = HashingMetadata.decode(resized(dict(reversed(RESIZED.items()))), "there")
    rows = {key: name for name, keys in RESIZED.values() for key in keys}
    found = places(Rings((ring,), ("id",), ("id",)), ["p"], [("p", key) for key in rows])
    assert [name for _, name in found] == list(rows.values())


def test_past_the_last_node_comes_the_first():
    first, *_, last = RESIZED
    ring = HashingMetadata.decode(resized({value: of for value, of in RESIZED.items() if value != last}), "there")
    found = places(Rings((ring,), ("id",), ("id",)), ["p"], [("p", key) for key in RESIZED[last][1]])
    assert {name for _, name in found} == {RESIZED[first][0]}


def test_files_are_as_hudi_writes_them():
    made = HashingMetadata.first("part=ü x", 4)
    assert made.encode().decode() == WRITTEN
    assert HashingMetadata.decode(WRITTEN.encode(), "there") == made
    three = HashingMetadata.first("", 3)
    assert [node.value for node in three.nodes] == [715827883, 1431655766, 2147483647]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", CorruptTableError),
        (b"{}", CorruptTableError),
        (resized({}), CorruptTableError),
        (resized({1: ("a", ()), 2: ("", ())}), CorruptTableError),
        (resized({1: ("a", ())}).replace(b"NORMAL", b"DELETE"), CorruptTableError),
        (resized({1: ("../a", ())}), UnsafePathError),
    ],
)
def test_damaged_files(body, error):
    with pytest.raises(error, match=r"hashing_meta"):
        HashingMetadata.decode(body, "x.hashing_meta")
