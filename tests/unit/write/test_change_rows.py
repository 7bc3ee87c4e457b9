"""Changes become the rows of an upsert: of each key the last one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.options import options_for
from hoodie.errors import ConfigError, DataError, RecordKeyError, SchemaConflictError
from hoodie.write.change_rows import ChangeColumns, change_rows
from tests.support.tables import SMALL_BLOOM, batch, content, create

GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE"}
LAST = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "hoodie.table.ordering.fields": ""}


def flat(*changes, extra="n"):
    """Changes of (op, id, part, ts, value, place in the order)."""
    rows = batch([change[1:5] for change in changes])
    rows = rows.append_column("op", pa.array([change[0] for change in changes], pa.string()))
    return rows.append_column(extra, pa.array([change[5] for change in changes]))


def images(*changes):
    """Changes of (op, before, after, completion time), images as tuples of (id, part, ts, value)."""
    kind = pa.struct(list(batch([]).schema))
    rows = [
        [dict(zip(("id", "part", "ts", "value"), row, strict=True)) if row else None for row in c[1:3]] for c in changes
    ]
    return pa.table(
        {
            "op": pa.array([change[0] for change in changes], pa.string()),
            "_hoodie_completion_time": pa.array([change[3] for change in changes], pa.string()),
            "before": pa.array([before for before, _ in rows], kind),
            "after": pa.array([after for _, after in rows], kind),
        }
    )


def applied(table, changes, columns=None, **options):
    """Apply changes to the table and return its content."""
    options = {**SMALL_BLOOM, **options}
    rows = change_rows(table.state(), changes.schema, columns or ChangeColumns(), options_for(options, WRITE_OPTIONS))
    table.write(rows(changes), "upsert", options, deletions="@deletion")
    return {key: row[2] for key, row in content(table).items()}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    made = create(tmp_path / "t", **{"hoodie.table.type": request.param})
    made.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    return made


BY_N = ChangeColumns("op", ("n",))


def test_changes_without_rows_change_nothing(table):
    assert applied(table, images()) == {"a": 1, "b": 1}


def test_the_last_change_of_a_key_stays(table):
    changes = flat(
        ("u", "a", "p", 2, 20, 5),
        ("u", "a", "p", 9, 10, 4),
        ("d", "b", "p", 1, 1, 7),
        ("i", "b", "p", 1, 2, 6),
        ("+I", "c", "q", 1, 1, 1),
        ("-D", "c", "q", 1, 1, 2),
        ("-U", "d", "q", 1, 1, 1),
        ("+U", "d", "q", 1, 4, 2),
        ("i", "e", "q", 1, 5, 1),
    )
    rows = change_rows(table.state(), changes.schema, BY_N, options_for(SMALL_BLOOM, WRITE_OPTIONS))
    assert "op" not in rows.data.names
    assert applied(table, changes, BY_N) == {"a": 20, "d": 4, "e": 5}, "20 came later, though 10 has the greater time"


def test_a_feed_is_in_the_order_of_its_commits(table):
    """A row that moves is a delete and an insert of one commit: the delete comes first."""
    changes = images(
        ("i", None, ("a", "q", 1, 3), "2"),
        ("d", ("a", "p", 1, 1), None, "2"),
        ("u", ("b", "p", 1, 2), ("b", "p", 2, 3), "2"),
        ("u", ("b", "p", 1, 1), ("b", "p", 1, 2), "1"),
    )
    assert applied(table, changes) == {"a": 3, "b": 3}
    assert content(table)["a"][0] == "q"


def test_a_change_of_the_key_deletes_the_old_row(table):
    changes = images(("u", ("a", "p", 1, 1), ("z", "p", 1, 1), "1"), ("u", ("b", "p", 1, 1), ("b", "q", 1, 9), "1"))
    assert applied(table, changes) == {"z": 1, "b": 9}
    assert content(table)["b"][0] == "q"


@pytest.mark.parametrize(
    ("changes", "columns", "said"),
    [
        (flat(("x", "a", "p", 1, 1, 1)), BY_N, "'x' in 1 of 1"),
        (flat((None, "a", "p", 1, 1, 1)), BY_N, "None in 1 of 1"),
        (flat(("i", "a", "p", 1, 1, 1), ("u", "a", "p", 1, 2, 1)), BY_N, "same place in the order: key 'a'"),
        (flat(("i", "a", "p", 1, 1, 1), ("d", "a", "p", 1, 1, 2)), None, "same place in the order: key 'a'"),
        (flat(("i", "a", "p", 1, 1, 1), ("d", "a", "p", 1, 1, None)), BY_N, "a null value of its order"),
        (flat(("d", "a", "p", 5, 1, 1), ("i", "a", "p", 4, 1, 2)), BY_N, "returns with a lower value of ts"),
        (flat(("d", "a", None, None, None, None)), ChangeColumns(), "only key columns in 1 of 1"),
        (images(("d", ("a", None, None, None), None, "1")), None, "only key columns in 1 of 1"),
        (images(("d", None, None, "1")), None, "lack the image that says which row"),
        (images(("i", ("a", "p", 1, 1), None, "1")), None, "lack the image that says which row"),
        (images(("u", None, ("a", "p", 1, 1), "1")), None, "partition of the old row is not known"),
    ],
)
def test_changes_that_cannot_be_applied(tmp_path, changes, columns, said):
    table = create(tmp_path / "t")
    if "only key" in said and "n" in changes.schema.names:
        changes = changes.drop_columns(["n"])
    with pytest.raises(DataError) as raised:
        applied(table, changes, columns)
    assert said in str(raised.value)
    assert not table.timeline.commits


def test_what_is_needed_depends_on_the_index(tmp_path):
    table = create(tmp_path / "t", **LAST)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "upsert", {**SMALL_BLOOM, **GLOBAL})
    changes = images(("u", None, ("a", "q", 1, 2), "1"), ("d", ("b", None, None, None), None, "1"))
    assert applied(table, changes, **GLOBAL) == {"a": 2}


def test_changes_of_equal_place_that_leave_the_same_are_no_question(table):
    twice = flat(("u", "a", "p", 2, 2, 1), ("u", "a", "p", 2, 2, 1), ("d", "b", "p", 1, 1, 1), ("D", "b", "p", 1, 9, 1))
    assert applied(table, twice, BY_N) == {"a": 2}


def test_columns_that_are_not_there(table):
    changes = flat(("i", "a", "p", 1, 1, 1))
    for columns in (ChangeColumns("kind"), ChangeColumns("op", ("offset",))):
        with pytest.raises(ConfigError, match="have no column"):
            applied(table, changes, columns)
    with pytest.raises(SchemaConflictError, match="is not text"):
        applied(table, changes, ChangeColumns("ts"))
    with pytest.raises(RecordKeyError, match="is missing"):
        applied(table, changes.drop_columns(["id"]))
    uneven = images(("i", None, ("a", "p", 1, 1), "1"))
    other = pa.array([None], pa.struct([("id", pa.int64())]))
    with pytest.raises(SchemaConflictError, match="two types"):
        applied(table, uneven.set_column(2, "before", other))


def test_changes_of_two_rows_with_one_record_key_are_refused(tmp_path):
    """Hudi's keys of several columns escape nothing. One of the two rows would be lost."""
    made = create(tmp_path / "t", **{"hoodie.table.recordkey.fields": "id,part", "hoodie.table.partition.fields": ""})
    for first, second in ((("x,part:y", "z"), ("x", "y,part:z")), (("", "a"), ("__empty__", "a"))):
        changes = flat(("i", *first, 1, 1, 1), ("i", *second, 1, 2, 2))
        with pytest.raises(RecordKeyError, match="Rows with different values of id, part have one record key"):
            applied(made, changes, BY_N)
    changes = flat(("i", "x", "y,part:z", 1, 1, 1), ("d", "x", "y,part:z", 1, 2, 2), ("i", "", "a", 1, 5, 3))
    assert list(applied(made, changes, BY_N).values()) == [5]


def test_no_changes_are_no_rows(table):
    given = images(("i", None, ("c", "p", 1, 1), "1")).slice(0, 0)
    assert (
        change_rows(table.state(), given.schema, ChangeColumns(), options_for({}, WRITE_OPTIONS))(given).num_rows == 0
    )
