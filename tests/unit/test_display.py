"""The display of a table and of results in consoles and notebooks."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hoodie
from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.display import Shown, nearest_first, size_of
from hoodie.engine import LocalEngine
from tests.support.clock import FakeClock
from tests.support.tables import batch, create

EVIL = "<script>alert('x')</script>&\""


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.datasource.write.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 10), ("b", "q", 2, 20)]))
    return table


def test_a_table_tells_what_it_is(table):
    path = table.base_path
    assert repr(table) == f"HoodieTable({path!r}, MERGE_ON_READ v9, 1 commit)"
    table.write(batch([("a", "p", 2, 11)]))
    assert repr(table) == f"HoodieTable({path!r}, MERGE_ON_READ v9, 2 commits)"
    page = table._repr_html_()
    for told in ("trips", "record key", "id", "part", "last commit", "int64"):
        assert f">{told}" in page or told in page
    assert str(table.timeline.last_commit) in page


def test_a_table_that_cannot_be_read_shows_so_and_raises_nothing(table, monkeypatch):
    for error in (OSError("the line is dead"), RuntimeError(EVIL)):
        monkeypatch.setattr(type(table.storage), "list", lambda *_, error=error: (_ for _ in ()).throw(error))
        assert repr(table) == f"HoodieTable({table.base_path!r}, cannot be read: {type(error).__name__})"
        assert "<script" not in table._repr_html_()


def test_an_empty_table(tmp_path):
    table = HoodieTable.create(tmp_path / "e", {"hoodie.table.name": "e"})
    assert repr(table).endswith("COPY_ON_WRITE v9, 0 commits)")
    assert "generated" in table._repr_html_()
    assert repr(table.timeline) == "Timeline of 0 instants"


def test_a_timeline_is_a_table(table):
    lines = repr(table.timeline).splitlines()
    assert lines[0] == "Timeline of 1 instant"
    assert lines[1].split() == ["time", "action", "state", "completed"]
    (instant,) = table.timeline
    assert lines[2].split() == [instant.time, "deltacommit", "COMPLETED", instant.completion_time]
    (file,) = Path(table.base_path, ".hoodie", "timeline").glob("*_*.deltacommit")
    for number in range(1, 51):  # 50 writes would take three seconds
        begun, completed = (int(time) + number * 1000 for time in file.stem.split("_"))
        shutil.copy(file, file.with_name(f"{begun}_{completed}.deltacommit"))
    lines = repr(table.timeline).splitlines()
    assert lines[0] == "Timeline of 51 instants, the last 50 of them"
    assert len(lines) == 52
    assert table.timeline._repr_html_().count("<tr>") == 51


def test_results_have_counts(table):
    done = table.write(
        batch([("a", "p", 3, 12), ("c", "p", 1, 1), ("c", "p", 2, 2)]), options={"hoodie.clean.automatic": "true"}
    )
    rows = "1 inserted, 1 updated, 0 deleted, 1 dropped for others of their keys"
    assert repr(done).startswith(f"WriteResult({done.instant.time} UPSERT: rows {rows}; 1 file, ")
    assert "clean" in done._repr_html_()
    table.write(batch([("b", "q", 9, 9)]))
    table.schedule(COMPACTION, force=True)
    (compacted,) = table.run(COMPACTION)
    assert repr(compacted).startswith(f"CompactionResult({compacted.instant.time} COMPACT: ")
    options = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
    decision = table.explain(CLEAN, options)
    assert repr(decision).startswith("Decision(")
    assert f"would remove {len(decision.items)} files" in repr(decision)
    assert decision._repr_html_().count("part=p/") == sum("part=p/" in item.path for item in decision.items) > 0
    cleaned = table.run(CLEAN, options)
    assert repr(cleaned).startswith(f"CleanRun({len(decision.items)} files deleted; ")
    assert "part=p" in cleaned._repr_html_()
    assert repr(table.plan_read(filter="part = 'p'")).startswith("ReadPlan(1 file slices of 1 partitions")


def test_whatever_a_table_brings_is_escaped(tmp_path):
    options = {"hoodie.table.partition.fields": "part", "hoodie.table.name": "t"}
    table = create(tmp_path / EVIL.replace("/", ""), engine=LocalEngine(1), **options)
    table.write(batch([("a", EVIL, 1, 10)]))
    table.write(batch([("a", EVIL, 2, 10)]))
    keep = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
    decision = table.explain(CLEAN, keep)
    pages = [each._repr_html_() for each in (table, table.timeline, decision, table.run(CLEAN, keep))]
    assert "&lt;script&gt;" in pages[0]
    assert len(decision.items) == 1
    for page in pages:
        assert "<script" not in page
        assert EVIL not in page
    everything = Shown(EVIL, [(EVIL, EVIL)], [EVIL], [[EVIL]]).as_html()
    assert everything.count("&lt;script&gt;") == 5
    assert "<script" not in everything


def test_text_is_aligned():
    shown = Shown("x", columns=("name", "rows"), rows=[("a", 1200), ("long\nname", 7), (None, 0)])
    assert shown.as_text().splitlines() == [
        "x",
        "name        rows",
        "a          1,200",
        "long name      7",
        "               0",
    ]


def test_sizes_for_people():
    assert [size_of(count) for count in (0, 1, 1023, 1024, 43_100_000, 160 << 20, 5 << 40, 3 << 50)] == [
        "0 bytes",
        "1 byte",
        "1,023 bytes",
        "1.0 KiB",
        "41.1 MiB",
        "160 MiB",
        "5.0 TiB",
        "3.0 PiB",
    ]


def test_one_unit_of_bytes_in_all_texts():
    """A text with a rounded size is made by `size_of`. The procedure of Hudi's that has units has Hudi's."""
    other = re.compile(r"""\} ?[kKMGT]i?B\b|"[kKMG]i?B"|humanize""")
    root = Path(__file__).parents[2]
    sources = [path for name in ("hudi_services", "plugins") for path in (root / name).rglob("*.py")]
    found = {path.relative_to(root).as_posix() for path in sources if other.search(path.read_text())}
    assert found == {"plugins/hoodie/display.py", "plugins/hoodie/sql/procedures/files.py"}
    words = (root / "plugins/hoodie_airflow/pages/web/words.js").read_text()
    assert 'const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"];' in words
    assert 'counted(Math.round(bytes), "byte")' in words


def test_names_of_the_package():
    assert set(hoodie.__all__) <= set(dir(hoodie))
    assert hoodie.__version__.count(".") == 2
    for name in hoodie.__all__:
        assert getattr(hoodie, name) is not None


@pytest.mark.process
def test_hoodie_spark_comes_on_use_and_import_stays_cheap():
    code = (
        "import sys, hoodie\n"
        "heavy = {'pyarrow', 'pyspark', 'pandas', 'numpy', 'sqlglot', 'duckdb'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert hoodie.spark.session_options()\n"
        "assert hoodie.errors.HoodieError is hoodie.HoodieError and hoodie.__version__\n"
        "assert 'sqlglot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_similar_names_come_first():
    assert nearest_first("ts", ["amount", "TS_ms", "Ts"]) == ["Ts", "TS_ms", "amount"]
