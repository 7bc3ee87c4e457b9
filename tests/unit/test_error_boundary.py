"""Any failure in a call of the library is a HoodieError, even with arguments that make no sense."""

from __future__ import annotations

import errno
import math
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hoodie
from hoodie import CLEAN, COMPACTION, LOG_COMPACTION, SYNC, HoodieError, HoodieTable, errors
from hoodie.engine import LocalEngine
from hoodie.error_boundary import call
from hoodie.errors import ArgumentError, ConfigError, DataError, MachineError, StorageError
from tests.support.examples import examples
from tests.support.faults import assert_no_faults
from tests.support.tables import OPTIONS, batch, content, create


class Hostile:
    """Fails in every use, except when it is shown."""

    def __len__(self):
        raise RuntimeError("len")

    def __iter__(self):
        raise RuntimeError("iter")

    def __eq__(self, other):
        raise RuntimeError("eq")

    __hash__ = object.__hash__


GARBAGE = st.one_of(
    st.sampled_from(
        [
            None,
            True,
            0,
            -1,
            1 << 70,
            math.nan,
            "",
            " ",
            "\0",
            "\ud800",
            "..",
            "*",
            "%",
            "id",
            "id = 1",
            b"",
            b"id",
            (),
            [],
            {},
            set(),
            [1],
            ["id", "id"],
            [None],
            [["id"]],
            {"id": 1},
            {1: 2},
            {"hoodie.table.name": None},
            {"nope": 1},
            object(),
            object,
            Hostile(),
            len,
            lambda *_: None,
            Path("x"),
            Decimal("NaN"),
            date(2026, 1, 1),
            datetime.min,
            datetime.max,
            timedelta.max,
            datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
            datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
            "00000000000000",
            "99999999999999999",
            "2026-13-01",
            "0001-01-01",
            "9999-12-31T23:59:59-14:00",
            "x" * 10_000,
            "9" * 5000,
            pa.schema([]),
            pa.schema([("id", pa.string())]),
            pa.table({}),
            pa.table({"id": ["x"]}),
            pa.array([1]),
            pa.scalar(1),
            pc.field("nope"),
            pc.field("id"),
            pc.scalar(1),
            pc.field("ts") / 0 > 1,
            pc.field("id") > 1,
            pc.field(0) > 1,
            CLEAN,
            COMPACTION,
            LOG_COMPACTION,
            SYNC,
            HoodieTable,
            hoodie,
        ]
    ),
    st.text(max_size=20),
    st.integers(),
    st.binary(max_size=5),
    st.datetimes(),
    st.lists(st.text(max_size=5) | st.integers(), max_size=3),
    st.dictionaries(
        st.sampled_from(sorted(OPTIONS)) | st.text(max_size=5),
        st.text(max_size=5) | st.none() | st.integers(),
        max_size=2,
    ),
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    table = create(tmp_path_factory.mktemp("calls") / "t", **{"hoodie.datasource.write.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 10), ("b", "q", 2, 20)]))
    table.write(batch([("a", "p", 2, 11)]))
    return table


CALLS = {
    "open": lambda table, bad: HoodieTable.open(bad),
    "open's engine": lambda table, bad: HoodieTable.open(table.base_path, engine=bad),
    "open's clock": lambda table, bad: HoodieTable.open(table.base_path, clock=bad),
    "table": lambda table, bad: HoodieTable(bad),
    "create": lambda table, bad: None if isinstance(bad, str | Path) else HoodieTable.create(bad, OPTIONS),
    "create's options": lambda table, bad: HoodieTable.create(table.base_path, bad),
    "create's schema": lambda table, bad: HoodieTable.create(table.base_path, OPTIONS, bad),
    "write": lambda table, bad: table.write(bad),
    "write's operation": lambda table, bad: table.write(batch([("b", "q", 2, 20)]), bad),
    "write's options": lambda table, bad: table.write(batch([("b", "q", 2, 20)]), options=bad),
    "write's schema": lambda table, bad: table.write(batch([("b", "q", 2, 20)]), schema=bad),
    "write's schema and rows": lambda table, bad: table.write(bad, schema=batch([]).schema),
    "write's metadata": lambda table, bad: table.write(batch([("b", "q", 2, 20)]), extra_metadata=bad),
    "write's hooks": lambda table, bad: table.write(batch([("b", "q", 2, 20)]), hooks=bad),
    "read's columns": lambda table, bad: table.read(bad),
    "read's filter": lambda table, bad: table.read(filter=bad),
    "read's as_of": lambda table, bad: table.read(as_of=bad),
    "read's options": lambda table, bad: table.read(options=bad),
    "read_optimized": lambda table, bad: table.read(read_optimized=bad is None),
    "plan_read": lambda table, bad: table.plan_read(bad, bad),
    "read_incremental's start": lambda table, bad: table.read_incremental(bad),
    "read_incremental's end": lambda table, bad: table.read_incremental(None, bad),
    "read_incremental's filter": lambda table, bad: table.read_incremental(None, None, bad, bad),
    "file_slices": lambda table, bad: table.file_slices(bad),
    "explain": lambda table, bad: table.explain(bad),
    "explain's options": lambda table, bad: table.explain(CLEAN, bad),
    "schedule": lambda table, bad: table.schedule(bad),
    "schedule's options": lambda table, bad: table.schedule(COMPACTION, bad),
    "run": lambda table, bad: None if bad is SYNC else table.run(bad),
    "run's options": lambda table, bad: table.run(CLEAN, bad),
    "run's time": lambda table, bad: table.run(COMPACTION, time=bad),
}


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", CALLS)
@given(bad=GARBAGE)
def test_garbage_is_a_hoodie_error(table, name, bad):
    try:
        CALLS[name](table, bad)
    except HoodieError as error:
        assert str(error).startswith(error.what[:20])  # noqa: PT017


@settings(max_examples=examples(300))
@example(text="{:}")
@given(text=st.text(alphabet=st.sampled_from(list("'\"()=<>!%_,.-+*/;:?@#$&|~^`[]{}\\ \n0aeétsid")), max_size=30))
def test_any_text_is_a_filter_or_an_error(table, text):
    try:
        table.read(filter=text)
    except ArgumentError as error:
        assert "ilter" in str(error)  # noqa: PT017


def test_garbage_leaves_the_table_as_it_was(table):
    assert content(table) == {"a": ("p", 2, 11), "b": ("q", 2, 20)}


@pytest.mark.parametrize(
    ("call_it", "told"),
    [
        (
            lambda table: table.read("id"),
            r"columns of a read are not a list of names.*'id' \(str\).*columns=\['a', 'b'\]",
        ),
        (lambda table: table.read(["id", "id"]), "named twice"),
        (lambda table: table.read(as_of=20260101), r"'as_of, start or end'.*20260101 \(int\)"),
        (lambda table: table.read(options=["x"]), r"Options are not a mapping.*\['x'\] \(list\)"),
        (lambda table: table.write(batch([]), options={"hoodie.table.name": None}), "has no value"),
        (lambda table: table.schedule(CLEAN), "not a service that can do this"),
        (lambda table: table.run(7), r"not a service that can do this.*7 \(int\).*hoodie\.ARCHIVE"),
        (lambda table: HoodieTable.open(table.base_path, engine="spark"), r"'engine'.*LocalEngine\(\)"),
    ],
)
def test_what_is_wrong_is_named(table, call_it, told):
    with pytest.raises(ConfigError, match=told):
        call_it(table)


def test_a_storage_that_fails_is_an_os_error_too(tmp_path):
    table = create(tmp_path / "t", engine=LocalEngine(1))
    table.write(batch([("a", "p", 1, 10)]))
    for file in tmp_path.rglob("*.parquet"):
        file.unlink()
        file.mkdir()  # what should be a file is a folder
    with pytest.raises(HoodieError):
        table.read()
    (tmp_path / "t" / ".hoodie" / "hoodie.properties").chmod(0)
    (tmp_path / "t" / ".hoodie" / "hoodie.properties").unlink()
    (tmp_path / "t" / ".hoodie" / "hoodie.properties").mkdir()
    with pytest.raises(HoodieError):
        HoodieTable.open(tmp_path / "t")


def test_failures_keep_their_cause_and_number():
    @call("testing", changes=True)
    def full():
        raise OSError(errno.ENOSPC, "No space left on device", "/x")

    with pytest.raises(
        OSError, match=r"storage failed while testing.*No space.*nothing half done is visible"
    ) as caught:
        full()
    assert isinstance(caught.value, StorageError)
    assert caught.value.errno == errno.ENOSPC
    assert isinstance(caught.value.__cause__, OSError)
    for raised, kind in (
        (pa.ArrowInvalid("x"), DataError),
        (pa.ArrowMemoryError("x"), MachineError),
        (MemoryError(), MachineError),
    ):
        with pytest.raises(kind, match="testing") as caught, call("testing"):
            raise raised
        assert caught.value.__cause__ is raised
    with pytest.raises(ZeroDivisionError), call("testing"):  # a mistake of the library's keeps its kind
        raise ZeroDivisionError
    first = ConfigError("x")
    with pytest.raises(ConfigError) as caught, call("testing"):
        raise first
    assert caught.value is first


def test_every_error_travels():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HoodieError)]
    assert len(kinds) > 20
    sent = [kind("What.", found="this", fix="that") for kind in kinds]
    arrived = [pickle.loads(pickle.dumps(error)) for error in sent]
    assert {str(error) for error in sent} == {"What. Found: this. To do: that."}
    assert_no_faults(
        f"{_parts(before)} arrived as {_parts(after)}"
        for before, after in zip(sent, arrived, strict=True)
        if _parts(before) != _parts(after)
    )


def _parts(error: HoodieError) -> tuple[object, ...]:
    return type(error), str(error), error.what, error.found, error.fix


def test_a_filter_that_cannot_be_computed_of_the_rows(table):
    with pytest.raises(DataError, match=r"Arrow cannot compute what reading asks for.*divide by zero"):
        table.read(filter=pc.divide(pc.field("ts"), pc.field("ts") - pc.field("ts")) > 1)


def test_times_of_early_years(table):
    """The year 999 is not after 2026."""
    with pytest.raises(errors.TimeTravelError, match="first commit"):
        table.read(as_of=datetime(999, 1, 1, tzinfo=UTC))
    assert table.read_incremental(datetime(999, 1, 1)).num_rows == 2
