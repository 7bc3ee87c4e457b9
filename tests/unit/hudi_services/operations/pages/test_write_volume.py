"""Written bytes over time: nothing is lost between the spans, and rows that services rewrote are apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hudi_services.operations.pages.write_volume import Span, Wrote, over_time
from hudi_services.operations.watch.model import Event

NOON = datetime(2026, 11, 23, 12, 30, tzinfo=UTC)


def done(hours: float, operation: str | None = "UPSERT", size: int | None = 10, **rows: Any) -> Event:
    completed = NOON + timedelta(hours=hours)
    facts = (
        {
            "operation": operation,
            "moves_rows": operation in ("COMPACT", "CLUSTER", "LOG_COMPACT"),
            "bytes_written": size,
            **rows,
        }
        if operation is not None
        else {}
    )
    return Event(1, "t", "20261123", "commit", completed, completed, True, facts)


def test_rows_that_copy_on_write_writes_again_were_not_brought() -> None:
    """Two of ten rows came with the commit; of a commit that only deletes all is its own."""
    found = over_time(
        [done(0, size=1000, rows_written=10, rows_inserted=1, rows_updated=1), done(0, size=7, rows_deleted=3)]
    )
    assert found is not None
    (span,) = found.spans
    assert (span.bytes, span.rewritten, span.rows) == (207, 800, 5)


def test_hours_and_what_services_wrote_anew() -> None:
    found = over_time(
        [
            done(2.6, "COMPACT", 30),
            done(2.5, rows_inserted=1, rows_updated=2, rows_deleted=4),
            done(2.2),
            done(0, "bulk_insert", None, rows_inserted=None),
            done(1, None),
        ]
    )
    assert found == Wrote(
        "hour",
        (
            Span("2026-11-23T12:00:00+00:00", commits=1),
            Span("2026-11-23T13:00:00+00:00"),
            Span("2026-11-23T14:00:00+00:00", commits=1, bytes=10),
            Span("2026-11-23T15:00:00+00:00", commits=1, rows=7, bytes=10, rewritten=30),
        ),
    )


def test_days_and_what_is_too_old() -> None:
    found = over_time([done(-24 * 200), done(-48), done(0)])
    assert found is not None
    assert found.unit == "day"
    assert len(found.spans) == 90
    assert [each.begin[:10] for each in found.spans if each.commits] == ["2026-11-21", "2026-11-23"]


def test_nothing_that_is_known() -> None:
    assert over_time([]) is None
    assert over_time([done(0, None)]) is None


@given(
    st.lists(
        st.tuples(
            st.floats(0, 24 * 89),
            st.sampled_from(["UPSERT", "COMPACT", "cluster", "CLUSTER", "LOG_COMPACT"]),
            st.integers(0, 9),
        ),
        min_size=1,
    )
)
def test_every_byte_is_in_one_span(given: list[tuple[float, str, int]]) -> None:
    found = over_time([done(*each, rows_updated=each[2]) for each in given])
    assert found is not None
    assert sum(each.bytes + each.rewritten for each in found.spans) == sum(size for _, _, size in given)
    assert sum(each.rewritten for each in found.spans) == sum(
        s for _, op, s in given if op.isupper() and op != "UPSERT"
    )
    begins = [datetime.fromisoformat(each.begin) for each in found.spans]
    length = timedelta(hours=1) if found.unit == "hour" else timedelta(days=1)
    assert begins == [begins[0] + number * length for number in range(len(begins))]
