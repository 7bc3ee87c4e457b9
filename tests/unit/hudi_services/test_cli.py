"""The command line: exit codes, explain, options, and what it says to tables that are broken."""

from __future__ import annotations

import io
import json
import re
import shutil

import pyarrow.parquet as pq
import pytest

import hoodie.table
from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hudi_services.cli import main
from tests.support.faulty import FaultyStorage
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, content, create

DONE, FAILED, USAGE = 0, 1, 2
CONF = [f"--hoodie-conf={key}={value}" for key, value in {**OPTIONS, **SMALL_BLOOM}.items()]


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(SystemClock, "sleep", lambda _self, _seconds: None)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("filled") / "trips"
    fill(create(path))
    return path


@pytest.fixture
def path(filled, tmp_path):
    """A table of three commits: the slice of the first may be cleaned."""
    return shutil.copytree(filled, tmp_path / "trips")


def fill(table):
    for step in (1, 2, 3):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)


@pytest.fixture
def land(tmp_path):
    """A source with one file."""
    folder = tmp_path / "land"
    deliver(folder, "dt=2024-01-01/x.parquet", [("b", "q", 1, 1)])
    return folder


def deliver(folder, name, rows):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(batch(rows), folder / name)


def ingest(path, land, *more):
    return main(["ingest", f"--target-base-path={path}", f"--source-path={land}", *CONF, *map(str, more)])


def clean(path, *more):
    return main(["clean", f"--target-base-path={path}", "--hoodie-conf=hoodie.clean.commits.retained=1", *more])


def rows(path):
    return content(HoodieTable.open(str(path), engine=LocalEngine(1)))


def everything(folder):
    """Every file and folder with content and time of change: what must not change at all."""
    return {
        str(each): (each.stat().st_mtime_ns, each.read_bytes() if each.is_file() else None)
        for each in folder.rglob("*")
    }


def said(capsys):
    return capsys.readouterr().err


# Exit codes and output


def test_a_service_that_is_done_exits_0_and_tells_what_it_did(path, land, tmp_path, capsys):
    result = tmp_path / "results" / "r.json"
    assert ingest(path, land, f"--result-path={result}") == DONE
    assert "ingest: 1 rows inserted, 0 updated, 0 deleted; 1 files to load" in capsys.readouterr().out
    assert json.loads(result.read_text())["rows_inserted"] == 1
    assert ingest(path, land, "--json") == DONE
    assert json.loads(capsys.readouterr().out)["message"] == "nothing to do: 0 files to load; 1 were loaded before"
    assert clean(path) == DONE
    assert re.match(r"clean: 2 files removed; ", capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["compost"],
        ["clean"],
        ["clean", "--target-base-path=x", "--force"],
        ["ingest", "--target-base-path=x"],
        ["ingest", "--target-base-path=x", "--source-path=y", "--source-format=xml"],
        ["ingest", "--target-base-path=x", "--source-path=y", "--max-bad-share=2"],
        ["ingest", "--target-base-path=x", "--source-path=y", "--from=2024-02-30"],
        ["clean", "--target-base-path=x", "--props=/nowhere/x.properties"],
        ["clean", "--target-base-path=x", "--hoodie-conf=hoodie.clean.policy"],
        ["clean", "--target-base-path=x", "--hoodie-conf==1"],
        ["show", "everything", "--target-base-path=x"],
    ],
)
def test_wrong_usage_exits_2_with_words(arguments, capsys):
    assert main(arguments) == USAGE
    assert said(capsys).strip()


@pytest.mark.parametrize("arguments", [["--help"], ["ingest", "--help"], ["show", "-h"]])
def test_help_exits_0(arguments, capsys):
    assert main(arguments) == DONE
    assert "Usage: hudi-services" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["clean"], ["show", "table"], ["unlock", "--yes"]])
def test_a_path_that_is_no_table(tmp_path, arguments, capsys):
    (tmp_path / "data.csv").write_text("x")
    before = everything(tmp_path)
    assert main([*arguments, f"--target-base-path={tmp_path}"]) == FAILED
    assert "is not a Hudi table" in said(capsys)
    assert everything(tmp_path) == before


def test_a_folder_with_other_files_is_not_made_a_table(tmp_path, land, capsys):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data.csv").write_text("x")
    before = everything(tmp_path)
    assert ingest(tmp_path / "other", land) == FAILED
    assert "it is not empty: data.csv" in said(capsys)
    assert everything(tmp_path) == before


# Explain


@pytest.mark.parametrize("version", ["6", "9"])
def test_explain_changes_nothing_and_shows_what_a_run_does(tmp_path, land, version, capsys):
    path = tmp_path / "trips"
    choose = f"--create-table-version={version}"
    before = everything(tmp_path)
    assert ingest(path, land, choose, "--explain", "--json") == DONE
    plan = json.loads(capsys.readouterr().out)
    assert plan["creates_table"]
    assert plan["files"] == [{"path": "dt=2024-01-01/x.parquet", "bytes": plan["bytes"]}]
    assert everything(tmp_path) == before

    ingest(path, land, choose)
    deliver(land, "y.parquet", [("b", "q", 2, 2)])
    capsys.readouterr()
    before = everything(tmp_path)
    assert ingest(path, land, "--explain") == DONE
    assert "would load 1 files" in capsys.readouterr().out
    assert clean(path, "--explain") == DONE
    assert "would remove 0 files" in capsys.readouterr().out
    assert everything(tmp_path) == before

    ingest(path, land)
    deliver(land, "z.parquet", [("b", "q", 3, 3)])
    ingest(path, land)
    capsys.readouterr()
    before = everything(tmp_path)
    assert clean(path, "--explain", "--json") == DONE
    [planned] = json.loads(capsys.readouterr().out)["files"]
    assert everything(tmp_path) == before
    assert clean(path) == DONE
    assert {name for name in before if name not in everything(tmp_path) and name.endswith(".parquet")} == {
        f"{path}/{planned['path']}"
    }
    assert planned["reason"]


def test_explain_repairs_nothing_either(path, land, tmp_path):
    """A lock, a failed write and a half-done update of the properties stay for the run that may change things."""
    meta = path / ".hoodie"
    (meta / "lock").write_text("{}")
    (meta / "timeline" / "20240101000000000.commit.requested").touch()
    (meta / "hoodie.properties").rename(meta / "hoodie.properties.backup")
    before = everything(tmp_path)
    assert ingest(path, land, "--explain") == DONE
    assert clean(path, "--explain") == DONE
    assert everything(tmp_path) == before


# Options


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--hoodie-conf=hoodie.clean.commit.retained=3"], "did you mean 'hoodie.clean.commits.retained'?"),
        (["--hoodie-conf=hoodie.nonsense.indeed=3"], "'hoodie.nonsense.indeed' is not known"),
        (["--hoodie-conf=hoodie.parquet.max.file.size=big"], "give a whole number, 1 or more"),
        (["--hoodie-conf=hoodie.datasource.write.recordkey.field=other"], "contradict each other"),
        (["--from=2024-01-02", "--to=2024-01-02", "--source-date-pattern=dt=%Y-%m-%d"], "date range is empty"),
        (["--from=2024-01-03", "--to=2024-01-02", "--source-date-pattern=dt=%Y-%m-%d"], "date range is empty"),
        (["--from=2024-01-03"], "needs a date pattern"),
        (["--source-date-pattern=%Y"], "names no day"),
        (["--create-table-version=6", "--hoodie-conf=hoodie.write.table.version=9"], "contradicts another option"),
    ],
)
@pytest.mark.parametrize("explain", [[], ["--explain"]])
def test_options_that_cannot_be_are_refused_before_anything_is_made(tmp_path, land, flags, message, explain, capsys):
    before = everything(tmp_path)
    assert ingest(tmp_path / "trips", land, *flags, *explain) == USAGE
    assert message in said(capsys)
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("hoodie.table.recordkey.fields=value", "the table has ('id',)"),
        ("hoodie.table.name=other", "the table has 'trips'"),
        ("hoodie.write.table.version=6", "the table has '9'"),
        ("hoodie.record.merge.mode=COMMIT_TIME_ORDERING", "the table has 'EVENT_TIME_ORDERING'"),
    ],
)
def test_options_that_contradict_the_table_are_refused(path, land, option, message, capsys):
    before = everything(path)
    assert ingest(path, land, f"--hoodie-conf={option}") == USAGE
    assert message in said(capsys)
    assert everything(path) == before


def test_flags_win_over_the_properties_file(tmp_path, land, capsys):
    props = tmp_path / "table.properties"
    props.write_text(
        "# a comment\nhoodie.table.name : from_file\nhoodie.table.recordkey.fields=id\n"
        "hoodie.table.partition.fields = \\\n   part\nhoodie.database.name=gr\\u00fc\\u00dfe\n"
    )
    path = tmp_path / "trips"
    arguments = ["ingest", f"--target-base-path={path}", f"--source-path={land}", f"--props={props}"]
    assert main([*arguments, "--hoodie-conf=hoodie.table.name = from = flag "]) == DONE
    properties = HoodieTable.open(str(path)).properties
    assert properties.name == "from = flag"
    assert properties.partition_fields == ("part",)
    assert properties.raw["hoodie.database.name"] == "grüße"


def test_a_properties_file_with_a_broken_escape_is_named(path, tmp_path, capsys):
    props = tmp_path / "table.properties"
    props.write_text("hoodie.table.name=\\u12")
    assert clean(path, f"--props={props}") == USAGE
    assert f"{props} cannot be read" in said(capsys)


def test_one_properties_file_serves_every_service(path, land, tmp_path):
    props = tmp_path / "all.properties"
    props.write_text("hoodie.clean.commits.retained=1\nhoodie.bloom.index.num_entries=100\nhoodie.table.name=trips")
    assert main(["clean", f"--target-base-path={path}", f"--props={props}"]) == DONE
    assert main(["ingest", f"--target-base-path={path}", f"--props={props}", f"--source-path={land}"]) == DONE


# Broken tables


@pytest.fixture(params=["ingest", "ingest --explain", "clean", "clean --explain", "show table"])
def command(request, path, land):
    """Runs a command on the table."""
    name, *flags = request.param.split()
    services = {
        "ingest": lambda: ingest(path, land, *flags),
        "clean": lambda: clean(path, *flags),
        "show": lambda: main(["show", *flags, f"--target-base-path={path}"]),
    }
    return services[name]


def edit(path, replace, by):
    properties = path / ".hoodie" / "hoodie.properties"
    text = properties.read_text()
    assert replace in text
    properties.write_text(text.replace(replace, by))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: edit(path, "hoodie.table.name=trips", "hoodie.table.name=tripz"), "the checksum does not match"),
        (lambda path: edit(path, "hoodie.table.name", "hoodie.table.title"), "no hoodie.table.name"),
        (lambda path: edit(path, "hoodie.table.version=9\n", ""), "no hoodie.table.version"),
        (lambda path: edit(path, "hoodie.table.version=9", "hoodie.table.version=7"), "found: hoodie.table.version=7"),
        (lambda path: edit(path, "hoodie.table.version=9", "hoodie.table.version=10"), "supported are 6, 8, 9"),
        (lambda path: edit(path, "=trips", "=\\u00"), "broken \\u escape"),
        (lambda path: (path / ".hoodie/hoodie.properties").write_text(""), "0 bytes"),
        (lambda path: (path / ".hoodie/hoodie.properties").unlink(), "a table's other files"),
        (lambda path: next(path.glob(".hoodie/timeline/*_*.commit")).write_text(""), "is empty. found: 0 bytes"),
    ],
)
def test_a_broken_table_is_refused_and_left_as_it_is(path, command, damage, message, capsys):
    damage(path)
    before = everything(path)
    assert command() == FAILED
    assert message.lower() in said(capsys).lower()
    assert everything(path) == before


def test_a_torn_instant_is_refused_and_left_as_it_is(path, land, capsys):
    instant = max(path.glob(".hoodie/timeline/*_*.commit"))
    instant.write_bytes(instant.read_bytes()[:100])
    data = {name: held for name, held in everything(path).items() if name.endswith(".parquet")}
    assert ingest(path, land) == FAILED
    assert instant.name in said(capsys)
    assert clean(path) == FAILED
    assert instant.name in said(capsys)
    assert {name: held for name, held in everything(path).items() if name.endswith(".parquet")} == data


@pytest.mark.parametrize("damage", ["missing", "torn", "empty"])
def test_the_backup_of_the_properties_serves_and_is_put_back_by_the_next_change(path, land, damage):
    main_file, backup = (path / ".hoodie" / name for name in ("hoodie.properties", "hoodie.properties.backup"))
    whole = main_file.read_bytes()
    backup.write_bytes(whole)
    main_file.write_bytes({"torn": whole[:-200], "empty": b"", "missing": b""}[damage])
    if damage == "missing":
        main_file.unlink()
    assert main(["show", "table", f"--target-base-path={path}"]) == DONE
    assert backup.exists()
    assert ingest(path, land) == DONE
    assert main_file.read_bytes() == whole
    assert not backup.exists()
    assert set(rows(path)) == {"a", "b"}


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("service", ["ingest", "clean"])
def test_without_disk_space_a_service_fails_and_the_table_is_as_before(
    tmp_path, land, monkeypatch, service, version, capsys
):
    origin, path = tmp_path / "origin", tmp_path / "trips"
    fill(create(origin, **{"hoodie.write.table.version": version}))
    before = rows(origin)

    def run(fail_at):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(origin, path)
        storage = FaultyStorage(path, fail_at, "full")
        with monkeypatch.context() as patch:
            patch.setattr(hoodie.table, "open_storage", lambda _: storage)
            return ingest(path, land) if service == "ingest" else clean(path), storage.log

    done, calls = run(None)
    assert done == DONE
    writing = [n for n, (call, _) in enumerate(calls, 1) if call in ("create", "open_output", "close_output")]
    assert len(writing) >= 4
    for number in writing:
        capsys.readouterr()
        assert run(number)[0] == FAILED, calls[number - 1]
        assert "the storage failed: [Errno 28] No space left on device" in said(capsys)
        assert rows(path) == before
    assert (ingest(path, land) if service == "ingest" else clean(path)) == DONE


# Looking at a table


@pytest.mark.parametrize("version", ["6", "9"])
def test_show(tmp_path, version, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.write.table.version": version})
    fill(table)
    first, _, last = table.timeline
    (path / table.state().layout.folder / "20990101000000000.clean.requested").write_bytes(b"x")

    def shown(what):
        assert main(["show", what, f"--target-base-path={path}"]) == DONE
        return capsys.readouterr().out.splitlines()

    assert f"hoodie.table.version={version}" in shown("table")
    timeline = [line.split() for line in shown("timeline")]
    assert timeline[0] == [first.time, "commit", "COMPLETED", first.completion_time]
    assert timeline[3] == ["20990101000000000", "clean", "REQUESTED"]
    commits = shown("commits")
    assert [line.split()[:2] for line in commits] == [[instant.time, "UPSERT"] for instant in table.timeline.commits]
    assert [line.split("  ")[-1] for line in commits] == ["+1 ~0 -0 rows", "+0 ~1 -0 rows", "+0 ~1 -0 rows"]
    [file] = shown("files")
    assert file.endswith(f"{last.time}.parquet")


def test_a_locked_table_is_unlocked_by_hand_only(path, land, monkeypatch, capsys):
    lock = path / ".hoodie" / "lock"
    lock.write_text('{"lockThreadName": "of another machine"}')
    assert ingest(path, land, "--hoodie-conf=hoodie.write.lock.wait_time_ms=0") == FAILED
    assert re.search(r"LockHeldError.*of another machine.*`hudi-services unlock`", said(capsys))
    unlock = ["unlock", f"--target-base-path={path}"]
    for answer in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        assert main(unlock) == FAILED
        assert "nothing was changed" in said(capsys)
        assert lock.exists()
    assert main([*unlock, "--yes"]) == DONE
    assert "removed the lock:" in (out := capsys.readouterr().out)
    assert "of another machine" in out
    assert main([*unlock, "--yes"]) == DONE
    assert "the table was not locked" in capsys.readouterr().out
    assert ingest(path, land, "--hoodie-conf=hoodie.write.lock.wait_time_ms=0") == DONE
