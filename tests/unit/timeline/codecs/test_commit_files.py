"""Looking for some partitions in a body finds what decoding all of it finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptTableError, UnsafePathError
from hoodie.model.commit import CommitMetadata, LogStat, WriteStat
from hoodie.model.time import Time
from hoodie.timeline.codecs import commit_files
from hoodie.timeline.codecs.commit import encode_commit_avro, encode_commit_json
from hoodie.timeline.codecs.commit_files import LISTED, written_avro, written_by, written_json

TIME = Time("2" * 17)
PARTITIONS = st.sampled_from(
    ["", "p", "part=p", "part=q", "a", "a/b", "2026/01/02", "part=ü", 'part="', "b", "0", "part=p/x"]
)


@pytest.fixture(scope="module", autouse=True)
def every_body_is_large():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commit_files, "_SMALL", 0)
        yield


def stat(partition, number, kind):
    name = {
        "base": f"f{number}-0_1-2-3_20260101000000000.parquet",
        "log": f".f{number}-0_20260101000000000.log.1_0-1-0",
    }
    path = None if kind == "none" else f"{partition}/{name[kind]}" if partition else name[kind]
    log = LogStat("", (f"f{number}",), 1, offset=number * 7) if kind == "log" else None
    return WriteStat(f"f{number}-0", path, partition, num_writes=number, file_size=number * 1000, log=log)


COMMITS = st.builds(
    lambda files, replaced, extra: CommitMetadata(
        "UPSERT",
        tuple(stat(partition, number, kind) for number, (partition, kind) in enumerate(files)),
        extra={"schema": extra},
        replaced=dict.fromkeys(replaced, ("f1-0",)),
    ),
    st.lists(st.tuples(PARTITIONS, st.sampled_from(["base", "log", "none"])), max_size=12),
    st.sets(PARTITIONS),
    st.text(max_size=40) | PARTITIONS,
)


@given(COMMITS, st.sets(PARTITIONS, min_size=1), st.booleans(), st.sampled_from(["json", "avro"]))
def test_the_files_of_some_partitions(commit, wanted, replace, kind):
    encode, decode = (encode_commit_json, written_json) if kind == "json" else (encode_commit_avro, written_avro)
    body = encode(commit, replace=replace)
    expected = written_by(commit, TIME)
    assert {name: files for name, files in decode(body, "here", None).items() if files} == {
        name: files for name, files in expected.items() if files
    }
    found = decode(body, "here", wanted)
    assert {name: found.get(name, {}) for name in wanted} == {name: expected.get(name, {}) for name in wanted}


def test_logs_of_changes_are_no_part_of_slices():
    names = [".f-0_20260101000000000.log.1_0-1-0.cdc", "f-0_1-2-3_20260101000000000.parquet"]
    commit = CommitMetadata("UPSERT", tuple(WriteStat("f-0", f"p/{name}", "p") for name in names))
    assert written_by(commit, TIME) == {"p": {names[1]: 0}}


def test_a_log_of_several_writes_of_one_commit_has_at_least_the_bytes_of_the_last():
    path = "p/.f-0_20260101000000000.log.1_0-1-0"
    sizes = [(40, 100), (0, 40), (140, 5)]  # offset, bytes
    stats = [WriteStat("f-0", path, "p", file_size=size, log=LogStat("", (), 1, start)) for start, size in sizes]
    commit = CommitMetadata("UPSERT", tuple(stats))
    expected = {"p": {path[2:]: 145}}
    assert written_by(commit, TIME) == expected
    assert written_json(encode_commit_json(commit, replace=False), "here", None) == expected
    assert written_avro(encode_commit_avro(commit, replace=False), "here", None) == expected


def test_logs_of_the_same_write_that_its_stat_lists():
    """Flink makes one stat of the mini-batches of a file group."""
    logs = [f".f-0_{time}.log.{version}_0-1-0" for time, version in [("1" * 17, 1), ("2" * 17, 1), ("2" * 17, 2)]]
    stat = WriteStat("f-0", f"p/{logs[2]}", "p", file_size=9, log=LogStat("", (*logs, f"{logs[1]}.cdc"), 1))
    commit = CommitMetadata("UPSERT", (stat,))
    expected = {"p": {logs[1]: LISTED, logs[2]: 0}}
    assert written_by(commit, TIME) == expected
    for wanted in (None, ["p"]):
        assert written_avro(encode_commit_avro(commit, replace=False), "here", wanted) == expected
    alone = {"p": {logs[2]: 9}}  # before table version 8 the name of a log is that of its slice
    assert written_by(commit, Time("3" * 17)) == alone
    assert written_json(encode_commit_json(commit, replace=False), "here", None) == alone


def test_torn_and_hostile_bodies():
    for wanted in (None, ["p"]):
        with pytest.raises(CorruptTableError, match="here"):
            written_avro(b"Obj\x01 torn", "here", wanted)
    with pytest.raises(CorruptTableError, match="here"):
        written_json(b'{"partitionToWriteStats": ', "here", None)
    with pytest.raises(UnsafePathError, match="here"):
        written_json(b'{"partitionToWriteStats": {"../x": []}}', "here", None)
