"""Messages of the command line about broken tables."""

from __future__ import annotations

import shutil

import pytest

import hoodie.table
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, clean, everything, fill, ingest, rows, said
from tests.support.faulty import FaultyStorage
from tests.support.tables import create


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


def plain(text):
    return " ".join(text.lower().replace("found: ", "").split())


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
        (lambda path: next(path.glob(".hoodie/timeline/*_*.commit")).write_text(""), "0 bytes"),
    ],
)
def test_a_broken_table_is_refused_and_left_as_it_is(path, command, damage, message, capsys):
    damage(path)
    before = everything(path)
    assert command() == FAILED
    printed = "".join(capsys.readouterr())  # advice of `show table` has lines of the terminal's width, and no "Found:"
    assert plain(message) in plain(printed)
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
            patch.setattr(hoodie.table, "storage_of", lambda _: storage)
            return ingest(path, land) if service == "ingest" else clean(path), storage.log

    done, calls = run(None)
    assert done == DONE
    writing = [n for n, (call, _) in enumerate(calls, 1) if call in ("create", "open_output", "close_output")]
    assert len(writing) >= 4
    for number in writing:
        capsys.readouterr()
        assert run(number)[0] == FAILED, calls[number - 1]
        told = said(capsys)
        assert "[Errno 28] No space left on device" in told
        assert "nothing half done is visible" in told or "was not completed" in told
        assert rows(path) == before
    assert (ingest(path, land) if service == "ingest" else clean(path)) == DONE
