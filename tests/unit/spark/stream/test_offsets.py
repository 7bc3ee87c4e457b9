"""Offsets of a stream, without Spark's session."""

from __future__ import annotations

import pytest

from hoodie.errors import ChangeRangeError
from hoodie.spark.stream.offsets import Offset, first_offset, next_offset
from hoodie.spark.stream.options import stream_options
from tests.support.changes import write
from tests.support.clock import FakeClock
from tests.support.tables import create


@pytest.fixture
def table(tmp_path):
    return create(tmp_path / "t", FakeClock())


def options(table, **more):
    return stream_options({"path": table.base_path, **more})


def test_a_stream_begins_where_its_options_say(table):
    begins = lambda **more: first_offset(table.state(), options(table, **more)).position  # noqa: E731
    start = "hoodie.datasource.streaming.startoffset"
    assert (begins(), begins(**{start: "latest"})) == ("", "")
    times = [write(table, [("a", "p", n, n)]) for n in range(1, 4)]
    assert begins() == ""
    assert begins(**{start: "latest"}) == times[2]
    assert begins(**{start: times[1]}) == times[1]
    assert begins(**{start: "2000-01-01"}) == ""


def test_a_batch_ends_within_its_limits(table):
    times = [write(table, [("a", "p", n, n)]) for n in range(1, 5)]
    begin = Offset("trips", "")

    def ends(begin=begin, until=None, *, limited=True, **more):
        return next_offset(table.state(), options(table, **more), begin, until, limited=limited).position

    assert ends() == times[3]
    assert ends(maxcommitspertrigger="2") == times[1]
    assert ends(Offset("trips", times[1]), maxcommitspertrigger="2") == times[3]
    assert ends(Offset("trips", times[3])) == times[3]
    assert ends(until=times[2]) == times[2]
    assert ends(maxbytespertrigger="1") == times[0], "a batch has a whole commit"
    size = table.state().commit_metadata(table.timeline.commits[0]).bytes_written
    assert ends(maxbytespertrigger=str(3 * size)) in times[1:3]
    assert ends(maxcommitspertrigger="1", limited=False) == times[3]


def test_a_checkpoint_of_another_table_is_refused(tmp_path, table):
    done = write(table, [("a", "p", 1, 1)])
    Offset("trips", done).check(table.state())
    with pytest.raises(ChangeRangeError, match="of another table"):
        Offset("others", done).check(table.state())
    with pytest.raises(ChangeRangeError, match="no commit that completed at 20200101000000000"):
        Offset("trips", "20200101000000000").check(table.state())
    with pytest.raises(ChangeRangeError, match="not that of a Hudi table"):
        Offset.of({"partition-0": 5})
