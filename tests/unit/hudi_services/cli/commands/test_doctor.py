"""The command `doctor`: text, JSON, exit codes, a registry in which some tables cannot be looked at."""

from __future__ import annotations

import json
import os

import pytest

from hudi_services.cli.program import main
from hudi_services.operations.watch.findings import last_round
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from tests.support.tables import SMALL_BLOOM, batch, create

HEALTHY, WARNED, DAMAGED = 0, 1, 2
GLOBAL = "hoodie: {hoodie.index.type: GLOBAL_SIMPLE}"
SIMPLE = "--hoodie-conf=hoodie.index.type=SIMPLE"


def filled(path):
    table = create(path)
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    return table


def doctor(capsys, *arguments, code):
    assert main(["doctor", *arguments]) == code
    text = capsys.readouterr().out
    assert main(["doctor", *arguments, "--json"]) == code
    return text, json.loads(capsys.readouterr().out)


def test_one_table_and_its_three_states(tmp_path, capsys):
    table = filled(tmp_path / "t")
    where = f"--target-base-path={tmp_path / 't'}"
    text, told = doctor(capsys, where, code=HEALTHY)
    assert text == f"{tmp_path / 't'}: healthy\n"
    assert (told["exit_code"], told["tables"][0]["findings"]) == (0, [])
    (tmp_path / "t/part=p/aaaa-0_0-1-2_29990101000000000.parquet").write_bytes(b"four")
    text, told = doctor(capsys, where, code=WARNED)
    assert "WARNING orphan-file" in text
    assert told["tables"][0]["findings"][0]["bytes"] == 4
    (slice_,) = table.file_slices()
    (tmp_path / "t" / slice_.base_file.path).unlink()
    text, told = doctor(capsys, where, code=DAMAGED)
    assert text.index("DAMAGE") < text.index("WARNING")
    assert told["exit_code"] == DAMAGED


@pytest.fixture
def registry(tmp_path):
    for name in ("good", "bad", "torn", "locked"):
        filled(tmp_path / name)
    (tmp_path / "bad/part=p/aaaa-0_0-1-2_29990101000000000.parquet").write_bytes(b"x")
    (tmp_path / "torn/.hoodie/hoodie.properties").write_bytes(b"")
    entry = "  - name: {0}\n    base_path: {1}/{0}\n"
    tables = "".join(entry.format(name, tmp_path) for name in ("good", "bad", "torn", "gone"))
    text = f"tables:\n{tables}  - name: wrong\n    base_path: {tmp_path}/wrong\n    no_such_key: 1\n"
    (tmp_path / "tables.yaml").write_text(text)
    return str(tmp_path / "tables.yaml")


def test_a_registry_in_which_some_tables_cannot_be_looked_at(registry, capsys):
    text, told = doctor(capsys, f"--registry={registry}", code=DAMAGED)
    by_name = {each["name"]: [finding["check"] for finding in each["findings"]] for each in told["tables"]}
    assert by_name == {
        "good": [],
        "bad": ["orphan-file"],
        "torn": ["unreadable"],
        "gone": ["no-table"],
        "wrong": ["unreadable"],
    }
    assert "1 table healthy, 4 not" in text
    assert "no_such_key" in text


def test_a_table_of_the_registry_by_its_name(registry, capsys):
    _, told = doctor(capsys, "--table=bad", f"--registry={registry}", code=WARNED)
    assert [each["name"] for each in told["tables"]] == ["bad"]


def test_a_storage_that_fails_is_a_finding(tmp_path, capsys, monkeypatch):
    filled(tmp_path / "t")
    monkeypatch.setattr("hoodie.storage.LocalStorage.list", lambda self, folder: (_ for _ in ()).throw(OSError("gone")))
    text, told = doctor(capsys, f"--target-base-path={tmp_path / 't'}", code=DAMAGED)
    assert told["tables"][0]["findings"][0]["found"] == "OSError: gone"
    assert "unreadable" in text


@pytest.mark.parametrize("loader", ["ingest", "stream"])
def test_the_index_of_the_loads_decides_what_keys_in_two_partitions_are(tmp_path, capsys, loader):
    """No flag names it: the registry does."""
    table = filled(tmp_path / "t")
    table.write(batch([("a", "q", 2, 2)]), "upsert", SMALL_BLOOM)
    files = f"source: {{path: {tmp_path}, format: json}}"
    follows = {"ingest": "ingest: {{{0}}}", "stream": "stream: {{path: /lake/s, {0}}}"}[loader]
    for options, check, code in (("", "keys-per-partition", WARNED), (GLOBAL, "keys-in-partitions", DAMAGED)):
        entry = f"{{name: t, base_path: {tmp_path}/t, keys: {{record_key: id, partition_by: part}}, "
        entry += (f"{files}, " if loader == "ingest" else "") + follows.format(options) + "}"
        (tmp_path / "tables.yaml").write_text(f"tables: [{entry}]\n")
        _, told = doctor(capsys, f"--registry={tmp_path}/tables.yaml", "--deep", code=code)
        assert [finding["check"] for finding in told["tables"][0]["findings"]] == [check]
    _, told = doctor(capsys, f"--registry={tmp_path}/tables.yaml", "--table=t", "--deep", SIMPLE, code=WARNED)
    assert [finding["check"] for finding in told["tables"][0]["findings"]] == ["keys-per-partition"]


def test_text_of_others_stays_on_its_line(tmp_path, capsys):
    filled(tmp_path / "t")
    lock = tmp_path / "t/.hoodie/lock"
    lock.write_bytes(b"\x1b[31mred\nline")
    os.utime(lock, (0, 0))
    text, _ = doctor(capsys, f"--target-base-path={tmp_path / 't'}", code=WARNED)
    assert "\x1b" not in text
    assert len(text.splitlines()) == 5


def test_mending_shows_asks_and_looks_again(tmp_path, capsys, monkeypatch):
    filled(tmp_path / "t")
    file = tmp_path / "t/part=p/aaaa-0_0-1-2_29990101000000000.parquet"
    file.write_bytes(b"four")
    where = f"--target-base-path={tmp_path / 't'}"
    asked = []
    monkeypatch.setattr("click.confirm", lambda text, **_: asked.append(text) or len(asked) > 1)
    assert main(["doctor", where, "--fix"]) == WARNED
    assert "would mend 1 finding, 4 bytes" in capsys.readouterr().out
    assert file.exists()
    assert main(["doctor", where, "--fix"]) == HEALTHY
    assert "moved part=p/aaaa" in capsys.readouterr().out
    assert not file.exists()
    file.write_bytes(b"once more")
    assert main(["doctor", where, "--fix", "--yes", "--json"]) == HEALTHY
    (told,) = json.loads(capsys.readouterr().out)["tables"]
    assert (len(told["mended"]), told["plan"]["bytes"], told["findings"]) == (1, 9, [])


def test_mending_a_registry_goes_on_past_a_table_that_cannot_be_mended(registry, tmp_path, capsys):
    lost = tmp_path / "good/part=p/aaaa-0_0-1-2_29990101000000000.parquet"
    lost.write_bytes(b"x")
    (tmp_path / "bad/.hoodie/lock").write_bytes(b"somebody")
    options = ["--hoodie-conf=hoodie.write.lock.wait_time_ms=0", "--hoodie-conf=hoodie.write.lock.num_retries=0"]
    assert main(["doctor", f"--registry={registry}", "--fix", "--yes", "--json", *options]) == DAMAGED
    tables = {each["name"]: each for each in json.loads(capsys.readouterr().out)["tables"]}
    assert not lost.exists()
    assert tables["bad"]["failure"]["error"] == "LockHeldError"
    assert [each["check"] for each in tables["bad"]["findings"]] == ["orphan-file"]


@pytest.mark.parametrize("flags", [["--fix", "--json"], ["--yes"]])
def test_flags_that_contradict_each_other(tmp_path, capsys, flags):
    filled(tmp_path / "t")
    assert main(["doctor", f"--target-base-path={tmp_path / 't'}", *flags]) == 2


def test_the_findings_of_a_round_are_there_for_the_pages(registry, tmp_path, capsys):
    reading = read_registry(registry)
    with SnapshotStore.open(store_of(reading.registry), make=True) as store:
        doctor(capsys, f"--registry={registry}", code=DAMAGED)
        bad, good = (last_round(store, name, f"{tmp_path}/{name}") for name in ("bad", "good"))
        assert ([damage.check for damage in bad.damages], good.damages) == (["orphan-file"], ())
        assert main(["doctor", f"--registry={registry}", "--table=bad", "--fix", "--yes"]) == HEALTHY
        assert last_round(store, "bad", f"{tmp_path}/bad").damages == ()
        assert last_round(store, "good", f"{tmp_path}/good").looked_at == good.looked_at
