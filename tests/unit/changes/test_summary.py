"""One change for each row."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.changes.query import keyed_schema
from hoodie.changes.summary import net_changes
from hoodie.errors import DataError

SCHEMA = keyed_schema(pa.schema([("v", pa.int64())]))


def changes(*rows):
    """Return changes; each of `rows` is (op, key, partition, before, after)."""
    image = [None if value is None else {"v": value} for _, _, _, *images in rows for value in images]
    columns = [
        [row[0] for row in rows],
        [f"{number}" for number in range(len(rows))],
        [f"{number}" for number in range(len(rows))],
        [row[1] for row in rows],
        [row[2] for row in rows],
        image[::2],
        image[1::2],
    ]
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def net(*rows):
    found = net_changes(changes(*rows)).to_pylist()
    values = [tuple(image and image["v"] for image in (row["before"], row["after"])) for row in found]
    return [(row["op"], row["_hoodie_record_key"], *images) for row, images in zip(found, values, strict=True)]


def test_first_image_before_and_last_image_after():
    assert net(
        ("i", "new", "p", None, 1),
        ("u", "kept", "p", 1, 2),
        ("i", "gone again", "p", None, 1),
        ("d", "old", "p", 7, None),
        ("u", "new", "p", 1, 2),
        ("u", "same", "p", 1, 2),
        ("d", "gone again", "p", 1, None),
        ("u", "same", "p", 2, 1),
        ("i", "old", "p", None, 8),
        ("d", "kept", "p", 2, None),
    ) == [("i", "new", None, 2), ("u", "old", 7, 8), ("d", "kept", 1, None)]
    assert net() == []


def test_one_key_in_two_partitions_is_two_rows():
    moved = [("i", "a", "p", None, 1), ("d", "a", "p", 1, None), ("i", "a", "q", None, 1)]
    assert net(*moved) == [("i", "a", None, 1)]
    assert net(("d", "a", "p", 1, None), ("i", "a", "q", None, 1)) == [("d", "a", 1, None), ("i", "a", None, 1)]


@pytest.mark.parametrize("second", [("i", "a", "p", None, 2), ("i", "a", "p", None, 1), ("u", "a", "p", 2, 3)])
def test_a_key_with_several_rows_is_refused(second):
    with pytest.raises(DataError, match="several rows with the key 'a'"):
        net(("i", "a", "p", None, 1), second)
    with pytest.raises(DataError, match="several rows with the key 'a'"):
        net(("u", "a", "p", 1, 3), second)
