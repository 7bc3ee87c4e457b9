"""Bodies of the metadata files: what is written comes back, and torn files are refused by name."""

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
from hoodie.model.services import CleanFile, CleanPlan, CleanResult, RollbackPlan, RollbackResult
from hoodie.timeline import Action, Instant, LayoutV1, LayoutV2, State, commit_codec, service_codec
from hoodie.transaction.guard import relative_path

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


@given(COMMITS)
def test_a_commit_in_avro(metadata):
    data = commit_codec.encode_avro(metadata, replace=True)
    assert commit_codec.decode_avro(data, "here") == metadata


@given(COMMITS)
def test_a_commit_in_json_which_does_not_know_the_file_before(metadata):
    data = commit_codec.encode_json(metadata, replace=True)
    stats = tuple(replace(stat, prev_base_file=None) for stat in metadata.stats)
    assert commit_codec.decode_json(data, "here") == replace(metadata, stats=stats)


@pytest.mark.parametrize("layout", [LayoutV1(UTC), LayoutV2(UTC)], ids=["1", "2"])
def test_only_a_replacecommit_names_replaced_groups(layout):
    instant = Instant("1", Action.COMMIT, State.COMPLETED, None, "1_2.commit" if layout.version == 2 else "1.commit")
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
    found = commit_codec.decode_json(json.dumps(sparse).encode(), "here")
    assert found == CommitMetadata("UNKNOWN", (WriteStat("f", "", "p"),))
    assert found.schema is None
    assert commit_codec.decode_json(b"{}", "here") == CommitMetadata("UNKNOWN")


def test_avro_of_an_older_writer_is_read_by_the_schema_it_carries():
    older = {
        "type": "record",
        "name": "HoodieCommitMetadata",
        "fields": [{"name": "operationType", "type": ["null", "string"]}, {"name": "later", "type": "int"}],
    }
    sink = io.BytesIO()
    fastavro.writer(sink, older, [{"operationType": "INSERT", "later": 1}])
    assert commit_codec.decode_avro(sink.getvalue(), "here") == CommitMetadata("INSERT")


@pytest.mark.parametrize("layout", [LayoutV1(UTC), LayoutV2(UTC)], ids=["1", "2"])
def test_a_commit_torn_at_any_byte_is_refused_and_named(layout):
    name = "1_2.commit" if layout.version == 2 else "1.commit"
    instant = Instant("1", Action.COMMIT, State.COMPLETED, None, name)
    data = layout.encode_commit(WHOLE, replace=False)
    for end in range(len(data)):
        with pytest.raises(CorruptTableError, match=f"{layout.folder}/{name}"):
            layout.decode_commit(data[:end], instant)


@pytest.mark.parametrize("data", [b"[]", b"null", b'"x"', b"\xff\xfe", b"\0" * 50])
def test_json_that_is_no_commit_is_refused(data):
    with pytest.raises(CorruptTableError, match="here"):
        commit_codec.decode_json(data, "here")


def test_an_avro_file_without_a_record_is_refused():
    sink = io.BytesIO()
    fastavro.writer(sink, {"type": "record", "name": "R", "fields": []}, [])
    with pytest.raises(CorruptTableError, match="without a record"):
        commit_codec.decode_avro(sink.getvalue(), "here")


@pytest.mark.parametrize("base", ["/lake/t", "s3://bucket/t", "file:/lake/t"])
def test_plans_hold_full_paths_and_come_back_relative(base):
    name = "f-0_0-1-2_20240101000000000.parquet"
    log = ".f-0_20240101000000000.log.1_0-1-2"
    files = tuple(CleanFile(f"p/{each}", "p", "f-0", 0, "planned before") for each in (name, log))
    clean = CleanPlan("KEEP_LATEST_COMMITS", files, "20240102000000000", "commit", "20240103000000000", {"k": "v"})
    rollback = RollbackPlan("20240101000000000", "commit", {"": ("a.parquet",), "p": ("p/x", "p/y")})

    def relative(path):
        assert path.startswith(base)
        return relative_path(base, path)

    assert service_codec.decode_clean_plan(service_codec.encode_clean_plan(clean, base), "here", relative) == clean
    encoded = service_codec.encode_rollback_plan(rollback, base)
    assert service_codec.decode_rollback_plan(encoded, "here", relative) == rollback


def test_a_clean_plan_may_have_nothing_but_its_watermark():
    plan = CleanPlan("KEEP_LATEST_FILE_VERSIONS", (), None, None, "20240103000000000")
    assert service_codec.decode_clean_plan(service_codec.encode_clean_plan(plan, "/t"), "here", str) == plan


@given(
    st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=3).map(tuple), max_size=3),
    st.lists(NAMES, min_size=1, max_size=2).map(tuple),
)
def test_the_result_of_a_clean(deleted, failed):
    failures = dict.fromkeys(list(deleted)[:1], failed)
    result = CleanResult("1", 5, "KEEP_LATEST_COMMITS" if deleted else "", "2", "3", deleted, failures, {"k": "v"})
    assert service_codec.decode_clean_result(service_codec.encode_clean_result(result), "here") == result


def test_the_result_of_a_rollback_counts_its_files():
    result = RollbackResult("2", 5, "1", "commit", {"": ("a",), "p": ("p/b", "p/c")})
    [record] = fastavro.reader(io.BytesIO(service_codec.encode_rollback_result(result, "/t")))
    assert record["totalFilesDeleted"] == 3
    assert record["partitionMetadata"]["p"]["successDeleteFiles"] == ["/t/p/b", "/t/p/c"]
    assert record["instantsRollback"] == [{"commitTime": "1", "action": "commit"}]
