"""New keys of a write against those of others: which files are opened, and that no key is missed."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.formats.base_file import BaseFileReader, KeyIndex
from hoodie.formats.bloom import BloomFilter
from hoodie.index import new_keys
from hoodie.index.new_keys import KeySet, NewKeys
from tests.support.rivals import OCC, Rival, shared
from tests.support.tables import batch, create

APART = {**OCC, "hoodie.parquet.small.file.limit": 0}
TEXTS = st.lists(st.text("az~é\ue000\U00010000", min_size=1, max_size=2), min_size=1, max_size=4)


def keys(texts):
    return pa.chunked_array([pa.array(texts, pa.string())])


class Footer:
    """The footer of a file with its keys, as a writer in Java makes it: it orders texts by their UTF-16."""

    def __init__(self, texts, bloom=True):
        ordered = sorted(texts, key=lambda text: text.encode("utf-16-be"))
        self._range = ordered[0], ordered[-1]
        self._bloom = BloomFilter.build(keys(texts), 10) if bloom else None

    def key_range(self):
        return self._range

    def key_index(self):
        return self._bloom and KeyIndex(self._bloom, *self._range)


@given(TEXTS, TEXTS, st.booleans())
def test_a_footer_never_hides_a_key(wanted, there, bloom):
    for few in (True, False):
        found = KeySet.of(keys(wanted))
        found = found if few else KeySet(found.hashes, found.low, found.high, None)
        assert found.may_be_in(Footer(there, bloom)) or not {*wanted} & {*there}
        assert found.meets(keys(there)) == bool({*wanted} & {*there})


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdefgh")), min_size=1), st.integers(0, 5))
def test_parts_together_are_the_whole(rows, cut):
    def of(some):
        parts, ids = zip(*some, strict=True) if some else ((), ())
        return pa.table({"_hoodie_record_key": keys(ids), "_hoodie_partition_path": keys(parts)})

    whole, parts = NewKeys.of(of(rows)), NewKeys.union([NewKeys.of(of(rows[:cut])), NewKeys.of(of(rows[cut:]))])
    assert list(whole.of_partition) == list(dict.fromkeys(part for part, _ in rows))
    for partition, found in parts.of_partition.items():
        same = whole.of_partition[partition]
        assert found.hashes.tolist() == same.hashes.tolist()
        assert (found.low, found.high) == (same.low, same.high)
        assert sorted(found.few.to_pylist()) == sorted(same.few.to_pylist())


@pytest.fixture
def read(monkeypatch):
    """The base files of which rows are read."""
    found = []
    batches = BaseFileReader.batches

    def remembered(self, *args, **named):
        found.append(self.rows)
        return batches(self, *args, **named)

    def begun(path, entries):
        rival = Rival(path, lambda table: table.write(batch(entries), "upsert", APART), written=True).begin()
        shared(path).write(batch([(key, "p", 2, 2) for key in ("m1", "m3", "m5")]), "upsert", APART)
        monkeypatch.setattr(BaseFileReader, "batches", remembered)
        error = rival.finish()
        return found, error

    return begun


@pytest.mark.parametrize(
    ("key", "few", "files"), [("n", 0, 0), ("m2", 0, 1), ("m2", 1000, 0), ("m3", 1000, 1)], ids=str
)
def test_only_files_that_may_have_one_of_the_keys_are_read(tmp_path, monkeypatch, read, key, few, files):
    monkeypatch.setattr(new_keys, "_FEW", few)
    create(tmp_path).write(batch([("a", "p", 1, 1)]), "insert", APART)
    found, error = read(tmp_path, [(key, "p", 2, 2)])
    assert found == [3] * files
    assert (error is not None) == (key == "m3")
