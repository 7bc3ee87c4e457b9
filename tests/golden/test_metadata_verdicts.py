"""Metadata tables of Hudi's that were damaged in one way each: what the doctor says of them, and what it leaves behind."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hoodie.doctor import diagnosis
from hoodie.doctor.catalogue import CHECKS, METADATA_EXTRA
from hoodie.doctor.finding import Severity
from hoodie.doctor.repair import decide_mending
from hoodie.timeline.codecs.clean import decode_clean_result
from tests.support.metadata_tables import ALL, FILES, newest_log, tell

ARCHIVES = ["12v9", "15v6"]


@pytest.fixture(params=ARCHIVES)
def table(golden, request, tmp_path):
    """name -> a copy of the golden table."""

    def copied(name):
        shutil.copytree(golden(request.param) / name, tmp_path / name)
        for each in Path(tmp_path, name).rglob("*.crc"):
            each.unlink()
        return HoodieTable.open(tmp_path / name)

    return copied


def found(table):
    """check -> paths; of warnings and damage, but for what the golden tables were left with."""
    result = {}
    for each in table.diagnose().findings:
        assert each.severity is CHECKS[each.check].severity
        assert each.remedy
        if each.severity is not Severity.NOTE and each.check not in ("plan-waits", "failed-write"):
            result.setdefault(each.check, set()).add(each.path)
    return result


def slices(table, partition="part=p1"):
    return [each for each in table.file_slices() if each.partition == partition]


def older(table):
    """A base file that is not of a current slice."""
    current = {path for each in table.file_slices() for path in each.paths}
    files = sorted(Path(table.base_path, "part=p1").glob("*.parquet"))
    return next(
        str(f.relative_to(table.base_path)) for f in files if str(f.relative_to(table.base_path)) not in current
    )


def without(table, *paths):
    """The metadata table hears that the files are deleted."""
    records = {}
    for path in paths:
        partition, _, name = path.rpartition("/")
        records.setdefault(partition, {})[name] = (0, True)
    tell(table.base_path, records)


@pytest.mark.parametrize("name", ["cow_hive", "mor_avro", "mor_parquet", "mor_pendcomp", "cow_clust", "cow_clean"])
def test_files_that_it_does_not_name(table, name):
    table = table(name)
    assert found(table) == {}
    paths = slices(table)[0].paths
    without(table, *paths)
    assert found(table) == {"metadata-missing-file": set(paths)}


def test_an_older_file_that_it_does_not_name(table):
    table = table("cow_hive")
    path = older(table)
    without(table, path)
    assert found(table) == {"metadata-old-file": {path}}


def test_an_older_file_that_is_gone(table):
    table = table("cow_hive")
    path = older(table)
    Path(table.base_path, path).unlink()
    assert found(table) == {"metadata-old-file": {path}}


def test_a_size_that_only_the_metadata_table_says(table):
    table = table("cow_hive")
    file = slices(table)[0].base_file
    tell(table.base_path, {"part=p1": {file.name: (file.size + 7, False)}})
    (told,) = [each for each in table.diagnose().findings if each.check == "metadata-size"]
    assert told.path == file.path
    assert told.found == f"{file.size:,} bytes, where the metadata table says {file.size + 7:,}"
    assert found(table) == {"metadata-size": {file.path}}


@pytest.mark.parametrize("change", [-100, 100])
def test_a_file_that_is_not_as_long_as_it_was_committed(table, change):
    table = table("cow_hive")
    file = Path(table.base_path, path := slices(table)[0].base_file.path)
    body = file.read_bytes()
    file.write_bytes(body[:change] if change < 0 else body + b"x" * change)
    assert found(table) == {"file-size": {path}}


def test_a_current_file_of_which_only_the_metadata_table_knows(table):
    """No other place may list the file: it is a loss, and dropping the entry is no repair."""
    table = table("cow_hive")
    name = f"lost-0_0-1-2_{table.timeline.commits[0].time}.parquet"
    tell(
        table.base_path,
        {"part=p1": {name: (5, False)}, "part=gone": {name: (5, False)}, ALL: {"part=gone": (0, False)}},
    )
    assert found(table) == {"missing-file": {f"part=p1/{name}", "part=gone"}}
    assert not CHECKS["missing-file"].fixed


def test_who_mends_is_told_to_restore_first(table):
    table = table("cow_hive")
    lost, *_ = (path for each in slices(table) for path in each.paths)
    Path(table.base_path, lost).unlink()
    without(table, *slices(table, "part=p2")[0].paths)
    assert found(table).keys() == {"missing-file", "metadata-missing-file"}
    assert "first restore 1 missing file" in decide_mending(table.diagnose()).as_text("doctor")


def test_a_file_that_a_clean_removed(table):
    table = table("cow_clean")
    state = table.state()
    clean = next(i for i in reversed(state.timeline.instants) if i.action == "clean")
    (partition, names), *_ = decode_clean_result(state.body(clean), state.where(clean)).deleted.items()
    tell(table.base_path, {partition: {names[0]: (5, False)}})
    assert found(table) == {"metadata-old-file": {f"{partition}/{names[0]}"}}
    group = names[0].partition("_")[0]
    alive = [each.path for each in slices(table, partition)[0].files if each.path.rpartition("/")[2].startswith(group)]
    others = [str(f.relative_to(table.base_path)) for f in Path(table.base_path, partition).glob(f"{group}*")]
    without(table, *others)
    told = found(table)
    assert told["metadata-extra-file"] == {f"{partition}/{names[0]}"}
    assert told["metadata-missing-file"] >= set(alive)


def test_partitions_of_one_side(table):
    table = table("cow_hive")
    paths = [str(f.relative_to(table.base_path)) for f in Path(table.base_path, "part=p1").glob("*.parquet")]
    without(table, *paths)
    tell(table.base_path, {ALL: {"part=p1": (0, True)}})
    assert found(table) == {"metadata-partition": {"part=p1"}}
    strange = Path(table.base_path, "part=x")
    shutil.copytree(Path(table.base_path, "part=p2"), strange)
    for file in strange.glob("*.parquet"):
        file.rename(
            strange / "copy-0_0-1-2_20200101000000000.parquet"
        )  # older than the timeline: committed, as for any reader
    assert found(table) == {"metadata-partition": {"part=p1"}, "metadata-unknown-partition": {"part=x"}}


def test_one_that_lags_behind(table):
    table = table("mor_avro")
    timeline = Path(table.base_path, ".hoodie/metadata", table.state().layout.folder)
    newest = max(path for path in timeline.glob("*.deltacommit"))
    newest.unlink()
    told = found(table)
    assert told.pop("metadata-behind") == {".hoodie/metadata"}
    assert set(told) == {"metadata-missing-file"}


def test_one_that_is_not_there(table):
    table = table("cow_hive")
    shutil.rmtree(Path(table.base_path, ".hoodie/metadata"))
    assert found(table) == {"metadata-gone": {".hoodie/metadata"}}


@pytest.mark.parametrize("what", ["hfile", "empty hfile", "no hfile", "properties", "timeline", "log"])
def test_one_that_is_torn(table, what):
    table = table("cow_hive")
    folder = Path(table.base_path, ".hoodie/metadata")
    base = next(folder.glob("files/*.hfile"))
    if what == "no hfile":
        base.unlink()
    elif what == "properties":
        (folder / ".hoodie/hoodie.properties").unlink()
    elif what == "timeline":
        shutil.rmtree(folder / ".hoodie")
    elif what == "log":  # Hudi's readers pass over it in silence
        log = newest_log(table.base_path)
        log.write_bytes(log.read_bytes()[:-30])
    else:
        base.write_bytes(b"" if what == "empty hfile" else base.read_bytes()[:-9])
    assert found(table) == {"metadata-unreadable": {".hoodie/metadata"}}


def test_one_that_nobody_is_told_to_use(table):
    table = table("cow_hive")
    without(table, *slices(table)[0].paths)
    properties = Path(table.base_path, ".hoodie/hoodie.properties")
    kept = [
        line for line in properties.read_text().splitlines() if not line.startswith("hoodie.table.metadata.partitions=")
    ]
    properties.write_text("\n".join(kept))
    assert "metadata-missing-file" not in found(table)


def test_what_is_not_committed_counts_on_neither_side(table):
    table = table("cow_hive")
    later = int(table.timeline.commits[-1].time) + 1
    tell(table.base_path, {"part=p1": {f"new-0_0-1-2_{later}.parquet": (5, False)}})
    assert found(table) == {}


HOSTILE = ["../../../etc/passwd", "/etc/passwd", "a/b.parquet", "..", "", "\x1b[2J", "x" * 5000, "é\u202e.parquet"]


def test_names_and_sizes_of_strangers(table):
    table = table("cow_hive")
    file = slices(table)[0].base_file
    tell(
        table.base_path,
        {
            "part=p1": {**dict.fromkeys(HOSTILE, (1, False)), file.name: (2**63 - 1, False)},
            "../../etc": {"passwd": (-(2**63), False)},
            ALL: {"../../etc": (0, False)},
        },
    )
    told = found(table)
    assert told["metadata-extra-file"] == {*(f"part=p1/{name}" for name in HOSTILE), "../../etc/passwd"}
    assert told["metadata-size"] == {file.path}
    assert set(told) == {"metadata-extra-file", "metadata-size"}


@pytest.mark.parametrize("seed", range(4))
def test_any_byte_of_it_may_be_wrong(table, seed):
    """Something else is said than that it is well, or the byte does not matter; nothing ends in a crash."""
    table, chosen = table("cow_hive"), random.Random(seed)
    files = [path for path in Path(table.base_path, FILES).iterdir() if path.suffix == ".hfile" or ".log." in path.name]
    for _ in range(12):
        path = chosen.choice(sorted(files))
        body = path.read_bytes()
        at = chosen.randrange(len(body))
        path.write_bytes(body[:at] + bytes([chosen.randrange(256)]) + body[at + 1 :])
        assert {*found(table)} <= {name for name in CHECKS if name.startswith("metadata-")} | {
            "missing-file",
            "file-size",
        }
        path.write_bytes(body)
    assert found(table) == {}


@pytest.mark.parametrize("damage", ["files", "torn", "gone"])
def test_it_is_mended_as_any_change_does_and_kept_aside(table, damage):
    table = table("cow_hive")
    rows = table.read().sort_by("id")
    folder, properties = Path(table.base_path, ".hoodie/metadata"), Path(table.base_path, ".hoodie/hoodie.properties")
    if damage == "gone":
        shutil.rmtree(folder)
    elif damage == "torn":
        next(folder.glob("files/*.hfile")).write_bytes(b"torn")
    else:
        without(table, *slices(table)[0].paths)
    before = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    was = properties.read_bytes()
    told = table.mend(table.diagnose())
    assert any("switched off the metadata table" in line for line in told)
    assert found(table) == {}
    assert not folder.exists()
    assert not table.state().properties.has_metadata_table
    assert table.read().sort_by("id") == rows
    aside = Path(table.base_path, ".hoodie/.quarantine/.hoodie")
    kept = {
        str(p.relative_to(aside / "metadata")).partition("~")[0]: p.read_bytes() for p in aside.rglob("metadata/**/*~*")
    }
    assert kept == {name: body for name, body in before.items() if name.partition("/")[0] in ("files", ".hoodie")}
    assert [path.read_bytes() for path in aside.glob("hoodie.properties~*")] == [was]


def test_only_what_two_looks_agree_on_is_told(table, monkeypatch):
    """A writer updates the metadata table, the storage and the timeline one after the other."""
    one, other, last = (METADATA_EXTRA.finding("", "", path=name) for name in ("one", "other", "last"))

    def seen(*looks):
        rest = iter(looks)
        monkeypatch.setattr(diagnosis.metadata_table, "metadata_table", lambda facts: next(rest))
        return {each.path for each in table_.diagnose().findings if each.check == METADATA_EXTRA.name}

    table_ = table("cow_np")
    assert seen([one], [one]) == {"one"}
    assert seen([one], [other], [other], [other]) == set()
    assert seen([one], []) == set()
    assert seen([]) == set()
    assert seen([one, other], [other, last], [other]) == {"other"}
