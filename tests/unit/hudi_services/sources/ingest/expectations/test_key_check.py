"""A key that is a wrong column of the files: a load that would lose most of its rows by it is refused, or warned of."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import RecordKeyError
from hudi_services.cli.program import main
from hudi_services.entry.feed.model import Feed as Declared
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.entry.target import Target
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.overview_facts import overview_facts
from hudi_services.operations.advice.rules.loss import checks
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.table_look import look_at


def rows(count, first=0, countries=2, **more):
    return [
        {
            "order_id": f"o{n}",
            "country": "DNSF"[n % countries],
            "part": "p",
            "ts": n,
            **{k: v(n) for k, v in more.items()},
        }
        for n in range(first, first + count)
    ]


@pytest.fixture
def load(feed):
    def run(rows_by_file, key="country", ordering="", **declared):
        for name, rows in rows_by_file.items():
            feed.land(name, rows)
        options = {"hoodie.table.recordkey.fields": key, "hoodie.table.ordering.fields": ordering}
        return feed.run("json", options=options, declared=Declared.model_validate(declared))

    return run


def test_most_different_rows_without_an_order(load, feed):
    with pytest.raises(RecordKeyError) as error:
        load({"a.json": rows(1000)})
    assert error.value.what.startswith(
        "1,000 different rows have 2 values of the key country and partition part: most rows of "
    )
    assert error.value.found == (
        "998 rows would be dropped, and no ordering column says which row is newer; unique: order_id, ts"
    )
    assert "set keys.record_key: [order_id] in the entry" in str(error.value.fix)
    assert "source.repeated_keys: accept. Nothing was loaded" in str(error.value.fix)
    assert not feed.open().timeline.commits
    assert load({}, key="order_id").rows_inserted == 1000, "the corrected key makes the table"


def test_a_later_load_names_a_new_table(load):
    load({"a.json": rows(2)})
    with pytest.raises(RecordKeyError) as error:
        load({"b.json": rows(100, first=2)})
    assert "load into a new table with keys.record_key: [order_id], as the key of a table cannot change" in str(
        error.value
    )


def test_identical_rows_may_go(load):
    done = load({"a.json": rows(2) * 500})
    assert (done.rows_inserted, done.rows_duplicate, "WARNING" in done.message) == (2, 998, False)


def test_few_changes_of_a_row_may_go(load):
    assert load({"a.json": rows(10, countries=1)}).rows_inserted == 1
    others = [{**row, "country": f"c{number}"} for number, row in enumerate(rows(50))]
    assert load({"b.json": [*rows(40, countries=1), *others]}).rows_inserted == 50, "39 of 90"


def test_versions_of_a_user_who_says_so(load):
    done = load({"a.json": rows(1000)}, repeated_keys="accept")
    assert (done.rows_inserted, done.rows_duplicate, "WARNING" in done.message) == (2, 998, False)


def test_files_have_an_order(load):
    done = load({f"{n:02}.json": rows(4, first=4 * n, countries=4) for n in range(20)})
    assert done.rows_inserted == 4
    assert (
        "expected different rows to have different keys: 80 different rows have 4 values of the key country"
        in done.message
    )


def test_the_ordering_says_which_row_is_newer(load, feed):
    history = {"a.json": [{"country": c, "part": "p", "ts": n, "v": n % 7} for n in range(100) for c in "DN"]}
    done = load(history, ordering="ts")
    assert done.rows_inserted == 2
    assert (
        "WARNING: 1 of 1 check failed: expected different rows to have different keys: 200 different rows have 2"
        in done.message
    )
    look = look_at(ChosenTable(str(feed.table)))
    shown = overview(look).values
    assert "200 different rows have 2 values of the key country" in shown["checks"]["told"]
    (advice,) = checks(overview_facts("t", Target.of(str(feed.table), "t"), shown, look.now))
    assert (advice.severity, advice.text) == (
        Severity.LOSS,
        "The newest load dropped most of its rows for others of their keys",
    )
    assert "`source.repeated_keys: accept`" in advice.remedy


def test_an_ordering_of_few_values_says_nothing(load):
    with pytest.raises(RecordKeyError, match="and most rows of a key have the same day"):
        load({"a.json": rows(100, day=lambda n: n // 50)}, ordering="day")


def test_a_first_load_with_an_order_and_another_key(load):
    with pytest.raises(RecordKeyError, match="though another column identifies a row; unique: order_id, ts"):
        load({"a.json": rows(100)}, ordering="ts")
    load({}, ordering="ts", repeated_keys="accept")
    assert "WARNING" in load({"b.json": rows(100, first=100)}, ordering="ts").message, "a later load may be of changes"


def test_explain_says_the_same(tmp_path, capsys):
    land = tmp_path / "land"
    land.mkdir()
    (land / "a.json").write_text("".join(json.dumps(row) + "\n" for row in rows(100)))
    flags = [
        "--target-base-path",
        str(tmp_path / "t"),
        "--source-path",
        str(land),
        "--source-format",
        "json",
        "--explain",
    ]
    flags += ["--hoodie-conf", "hoodie.table.name=t", "--hoodie-conf", "hoodie.table.recordkey.fields=country"]
    assert main(["ingest", *flags]) == 1
    assert "100 different rows have 2 values of the key country: most rows of" in capsys.readouterr().err
    assert main(["ingest", *flags, "--feed", '{"repeated_keys": "accept"}']) == 0
    assert not (tmp_path / "t").exists()
    (land / "a.json").write_text("".join(json.dumps({"country": c, "ts": n}) + "\n" for n in range(50) for c in "DN"))
    assert main(["ingest", *flags, "--hoodie-conf", "hoodie.table.ordering.fields=ts"]) == 0
    assert "WARNING: expected different rows to have different keys: 100 different" in capsys.readouterr().out
