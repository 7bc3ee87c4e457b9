"""Bodies of commits: what is written comes back, and torn files are refused by name."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptTableError
from hoodie.model.commit import CommitMetadata, WriteStat
from hoodie.timeline import Action, Instant, LayoutV1, LayoutV2, State
from hoodie.timeline.codecs.commit import decode_commit_avro, decode_commit_json, encode_commit_avro, encode_commit_json

NAMES = st.text(st.characters(blacklist_categories=["Cs"]), max_size=6)
PARTS = NAMES.filter(lambda text: "/" not in text and "\0" not in text and text not in (".", ".."))
COUNTS = st.integers(0, 2**63 - 1)
STATS = st.builds(
    WriteStat,
    file_id=PARTS,
    path=PARTS,
    partition=PARTS,
    prev_commit=st.sampled_from(["null", "20240101000000000"]),
    prev_base_file=st.none() | NAMES,
    num_writes=COUNTS,
    num_inserts=COUNTS,
    num_updates=COUNTS,
    num_deletes=COUNTS,
    file_size=COUNTS,
    create_ms=COUNTS,
    upsert_ms=COUNTS,
    cdc_stats=st.none() | st.dictionaries(NAMES, COUNTS, max_size=2),
)
COMMITS = st.builds(
    CommitMetadata,
    operation=st.sampled_from(["UPSERT", "BULK_INSERT", "CLUSTER"]),
    stats=st.lists(STATS, max_size=4).map(lambda stats: tuple(sorted(stats, key=lambda stat: stat.partition))),
    extra=st.dictionaries(NAMES, NAMES, max_size=3),
    replaced=st.dictionaries(PARTS, st.lists(PARTS, max_size=3).map(tuple), max_size=3),
    compacted=st.booleans(),
)
WHOLE = CommitMetadata("UPSERT", (WriteStat("f", "p/f.parquet", "p", file_size=7),), {"schema": '{"a": "ü"}'})
STARTED = Instant("1", Action.COMMIT, State.INFLIGHT)


@given(COMMITS)
def test_a_commit_in_avro(metadata):
    data = encode_commit_avro(metadata, replace=True)
    assert decode_commit_avro(data, "here") == metadata


@given(COMMITS)
def test_a_commit_in_json_which_does_not_know_the_file_before(metadata):
    data = encode_commit_json(metadata, replace=True)
    stats = tuple(replace(stat, prev_base_file=None) for stat in metadata.stats)
    assert decode_commit_json(data, "here") == replace(metadata, stats=stats)


@pytest.mark.parametrize("layout", [LayoutV1(UTC), LayoutV2(UTC)], ids=["1", "2"])
def test_only_a_replacecommit_names_replaced_groups(layout):
    instant = Instant("1", Action.COMMIT, State.COMPLETED, None, layout.completed_name(STARTED, "2"))
    metadata = replace(WHOLE, replaced={"p": ("a", "b")})
    for is_replace in (True, False):
        found = layout.decode_commit(layout.encode_commit(metadata, replace=is_replace), instant)
        assert found == (metadata if is_replace else WHOLE)
    assert found.partitions == {"p"}
    assert metadata.partitions | {"q"} == replace(metadata, replaced={"q": ()}).partitions
    assert (found.schema, found.bytes_written) == ('{"a": "ü"}', 7)


def test_layout_2_reads_the_json_that_an_upgrade_left():
    layout = LayoutV2(UTC)
    body = LayoutV1(UTC).encode_commit(WHOLE, replace=False)
    assert layout.decode_commit(body, Instant("1", Action.COMMIT, State.COMPLETED, "2", "1.commit")) == WHOLE


def test_what_other_writers_leave_out_has_a_default():
    sparse = {"partitionToWriteStats": {"p": [{"fileId": "f", "path": None}]}, "extraMetadata": {"schema": None}}
    found = decode_commit_json(json.dumps(sparse).encode(), "here")
    assert found == CommitMetadata("UNKNOWN", (WriteStat("f", "", "p"),))
    assert found.schema is None
    with pytest.raises(CorruptTableError, match="empty object"):
        decode_commit_json(b"{}", "here")


def test_avro_of_an_older_writer_is_read_by_the_schema_it_carries():
    older = {
        "type": "record",
        "name": "HoodieCommitMetadata",
        "fields": [{"name": "operationType", "type": ["null", "string"]}, {"name": "later", "type": "int"}],
    }
    sink = io.BytesIO()
    fastavro.writer(sink, older, [{"operationType": "INSERT", "later": 1}])
    assert decode_commit_avro(sink.getvalue(), "here") == CommitMetadata("INSERT")


@pytest.mark.parametrize("layout", [LayoutV1(UTC), LayoutV2(UTC)], ids=["1", "2"])
def test_a_commit_torn_at_any_byte_is_refused_and_named(layout):
    name = layout.completed_name(STARTED, "2")
    instant = Instant("1", Action.COMMIT, State.COMPLETED, None, name)
    data = layout.encode_commit(WHOLE, replace=False)
    for end in range(len(data)):
        with pytest.raises(CorruptTableError, match=f"{layout.folder}/{name}"):
            layout.decode_commit(data[:end], instant)


@pytest.mark.parametrize("data", [b"[]", b"null", b'"x"', b"\xff\xfe", b"\0" * 50])
def test_json_that_is_no_commit_is_refused(data):
    with pytest.raises(CorruptTableError, match="here"):
        decode_commit_json(data, "here")


def body(stat: str = "{}", operation: str = '"UPSERT"', extra: str = "{}", compacted: str = "false") -> bytes:
    return (
        f'{{"partitionToWriteStats": {{"p": [{stat}]}}, "operationType": {operation}, "extraMetadata": {extra}, '
        f'"compacted": {compacted}}}'
    ).encode()


@pytest.mark.parametrize("name", ["numWrites", "numInserts", "numUpdateWrites", "numDeletes", "fileSizeInBytes"])
@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "9" * 400, str(2**63), '"7"', "[1]", "1.5", "true"])
def test_what_is_no_count_is_refused(name, value):
    """Otherwise it would be summed up, shown and passed on."""
    with pytest.raises(CorruptTableError, match=r"here.*is not a count"):
        decode_commit_json(body(f'{{"{name}": {value}}}'), "here")


def test_what_was_not_counted_is_nothing():
    (stat,) = decode_commit_json(body(f'{{"numWrites": -1, "numInserts": null, "numDeletes": {2**63 - 1}}}'), "").stats
    assert (stat.num_writes, stat.num_inserts, stat.num_deletes) == (0, 0, 2**63 - 1)


@pytest.mark.parametrize("name", ['["COMPACT"]', '"\\ud800"', '"UPSERT\\n\\u001b[2J"', f'"{"x" * 10_000}"', "7"])
def test_what_is_no_operation_is_refused(name):
    with pytest.raises(CorruptTableError, match=r"here.*is not an operation"):
        decode_commit_json(body(operation=name), "here")


@pytest.mark.parametrize("data", [body(extra='{"schema": 5}'), body('{"prevCommit": 5}'), b"[" * 100_000])
def test_what_is_no_text_or_no_end_is_refused(data):
    with pytest.raises(CorruptTableError, match="here"):
        decode_commit_json(data, "here")


@pytest.mark.parametrize(("operation", "compacted", "moves"), [
    ('"COMPACT"', "true", True), ("null", "true", True), ('"UNKNOWN"', "true", True), ('"CLUSTER"', "false", True),
    ('"UPSERT"', "false", False), ("null", "false", False),
])  # fmt: skip
def test_compactions_of_writers_that_name_no_operation_move_rows(operation, compacted, moves):
    assert decode_commit_json(body(operation=operation, compacted=compacted), "").moves_rows is moves


def test_an_avro_file_without_a_record_is_refused():
    sink = io.BytesIO()
    fastavro.writer(sink, {"type": "record", "name": "R", "fields": []}, [])
    with pytest.raises(CorruptTableError, match="without a record"):
        decode_commit_avro(sink.getvalue(), "here")
